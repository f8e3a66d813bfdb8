// SPDX-License-Identifier: Apache-2.0
// Computes max_pool on the CPU, one item at a time: rows are read once, in order, and the maxima stay in the cache.
#include "models/ops/max_pool.h"

#include <ATen/Dispatch.h>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "models/ops/cpu/row_kernels.h"

namespace geosft {
namespace {

// best [width] and its rows become those that a row x with the number `row` leaves.
template <typename T>
void take_row(const T* x, int64_t row, int64_t width, T* best, int64_t* best_row) {
  for (int64_t t = 0; t < width; ++t) {
    const bool larger = x[t] > best[t] || (x[t] != x[t] && best[t] == best[t]);
    best[t] = larger ? x[t] : best[t];
    best_row[t] = larger ? row : best_row[t];
  }
}

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x_in, const std::optional<at::Tensor>& ptr) {
  check_max_pool(x_in, ptr);
  const std::vector<int64_t> offsets = packed_offsets(ptr, x_in.size(0), "ptr");
  const at::Tensor x = x_in.contiguous();
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1, width = x.size(1);
  const at::Tensor out = at::zeros({items, width}, x.options()),
                   row = at::full({items, width}, -1, x.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "max_pool", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* best = out.mutable_data_ptr<scalar_t>();
    int64_t* best_row = row.mutable_data_ptr<int64_t>();
    parallel_over_rows(items, x.numel(), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t first = offsets[static_cast<size_t>(b)], last = offsets[static_cast<size_t>(b) + 1];
        if (first == last) continue;
        std::copy_n(from + first * width, width, best + b * width);
        std::fill_n(best_row + b * width, width, first);
        for (int64_t i = first + 1; i < last; ++i) {
          take_row(from + i * width, i, width, best + b * width, best_row + b * width);
        }
      }
    });
  });
  return {out, row};
}

at::Tensor backward(const at::Tensor& grad_in, const at::Tensor& row_in, int64_t rows) {
  check_max_pool_backward(grad_in, row_in, rows);
  const at::Tensor grad = grad_in.contiguous(), row = row_in.contiguous();
  const int64_t items = grad.size(0), width = grad.size(1);
  const at::Tensor x_grad = at::zeros({rows, width}, grad.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, grad.scalar_type(), "max_pool", [&] {
    const scalar_t* from = grad.const_data_ptr<scalar_t>();
    const int64_t* of = row.const_data_ptr<int64_t>();
    scalar_t* to = x_grad.mutable_data_ptr<scalar_t>();
    for (int64_t at = 0; at < items * width; ++at) {
      if (of[at] < 0) continue;
      TORCH_CHECK(of[at] < rows, "row must be below ", rows, ", got ", of[at]);
      to[of[at] * width + at % width] = from[at];
    }
  });
  return x_grad;
}

}  // namespace

GEOSFT_ROW_KERNELS(max_pool)

}  // namespace geosft
