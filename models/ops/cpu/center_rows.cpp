// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/center_rows.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

namespace geosft {
namespace {

template <typename T>
void center_item(const T* from, int64_t rows, int64_t width, T* to) {
  std::vector<double> mean(static_cast<size_t>(width), 0.0);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t t = 0; t < width; ++t) mean[t] += static_cast<double>(from[i * width + t]);
  }
  for (double& sum : mean) sum /= static_cast<double>(rows);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t t = 0; t < width; ++t) to[i * width + t] = static_cast<T>(from[i * width + t] - mean[t]);
  }
}

}  // namespace

at::Tensor centered_rows(const at::Tensor& x, const std::vector<int64_t>& offsets) {
  at::Tensor out = at::empty_like(x);
  const int64_t width = x.size(0) > 0 ? x.numel() / x.size(0) : 0;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "centered_rows", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, static_cast<int64_t>(offsets.size()) - 1, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        center_item(from + offsets[b] * width, offsets[b + 1] - offsets[b], width, to + offsets[b] * width);
      }
    });
  });
  return out;
}

}  // namespace geosft
