// SPDX-License-Identifier: Apache-2.0
// Computes softmax_pool on the CPU. The rows of an item are reduced in blocks of a fixed size, each with its own
// maximum and sums, which are then combined in order: threads share large items, and the bits do not depend on the
// number of threads.
#include "models/ops/softmax_pool.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <limits>
#include <vector>

#include "geometry/packed.h"
#include "models/ops/cpu/row_kernels.h"
#include "models/ops/cpu/simd.h"
#include "models/ops/opmath.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/softmax_pool.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "geometry/operators.h"
#include "models/ops/cpu/vectors-inl.h"

#ifndef GEOSFT_SOFTMAX_POOL_BLOCK
#define GEOSFT_SOFTMAX_POOL_BLOCK
namespace geosft {
namespace {
constexpr int64_t kBlockRows = 512;

// Rows [begin, end) of an item with logits l; sum of e^(l - largest) x, total of e^(l - largest), and largest l.
template <typename T>
struct PoolBlock {
  int64_t item, begin, end;
  T* sum;
  T total, largest;
};

// x and u; for the backward pass also the gradient of an item's result, its product with the result, and log_sum.
template <typename T>
struct PoolRows {
  const T* x;
  const T* u;
  int64_t width;
  const T* grad = nullptr;
  T grad_out = 0, log_sum = 0;
};
}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

template <typename T>
T dot(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t count) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector<T> sum = hn::Zero(d);
  int64_t t = 0;
  for (; t + lanes <= count; t += lanes) sum = hn::MulAdd(hn::LoadU(d, a + t), hn::LoadU(d, b + t), sum);
  T result = lane_sum<T>(sum);
  for (; t < count; ++t) result += a[t] * b[t];
  return result;
}

// to += by * from.
template <typename T>
void add_scaled(T* HWY_RESTRICT to, T by, const T* HWY_RESTRICT from, int64_t count) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vector<T> scale = hn::Set(d, by);
  int64_t t = 0;
  for (; t + lanes <= count; t += lanes) {
    hn::StoreU(hn::MulAdd(scale, hn::LoadU(d, from + t), hn::LoadU(d, to + t)), d, to + t);
  }
  for (; t < count; ++t) to[t] += by * from[t];
}

template <typename T>
void forward_any(const PoolRows<T>& rows, PoolBlock<T>& block) {
  T logits[kBlockRows];
  block.largest = -std::numeric_limits<T>::infinity();
  for (int64_t i = block.begin; i < block.end; ++i) {
    const T logit = dot(rows.x + i * rows.width, rows.u, rows.width);
    block.largest = logit > block.largest || std::isnan(logit) ? logit : block.largest;
    logits[i - block.begin] = logit;
  }
  block.total = 0;
  std::fill_n(block.sum, rows.width, T(0));
  for (int64_t i = block.begin; i < block.end; ++i) {
    const T weight = std::exp(logits[i - block.begin] - block.largest);
    block.total += weight;
    add_scaled(block.sum, weight, rows.x + i * rows.width, rows.width);
  }
}

// Computes d x_i = w_i g + s_i u and d u = sum_i s_i x_i with s_i = w_i (g . x_i - g . out); d u goes to block.sum.
template <typename T>
void backward_any(const PoolRows<T>& rows, PoolBlock<T>& block, T* x_grad) {
  std::fill_n(block.sum, rows.width, T(0));
  for (int64_t i = block.begin; i < block.end; ++i) {
    const T* x = rows.x + i * rows.width;
    T* to = x_grad + i * rows.width;
    const T weight = std::exp(dot(x, rows.u, rows.width) - rows.log_sum);
    const T slope = weight * (dot(x, rows.grad, rows.width) - rows.grad_out);
    std::fill_n(to, rows.width, T(0));
    add_scaled(to, weight, rows.grad, rows.width);
    add_scaled(to, slope, rows.u, rows.width);
    add_scaled(block.sum, slope, x, rows.width);
  }
}

GEOSFT_SIMD_KERNEL(forward)
GEOSFT_SIMD_KERNEL(backward)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_SIMD_EXPORT(forward)
GEOSFT_SIMD_EXPORT(backward)

// The blocks of all items in order, and memory for their sums.
template <typename T>
struct PoolBlocks {
  PoolBlocks(const std::vector<int64_t>& offsets, int64_t width) {
    for (size_t b = 0; b + 1 < offsets.size(); ++b) {
      for (int64_t i = offsets[b]; i < offsets[b + 1]; i += kBlockRows) {
        blocks.push_back({static_cast<int64_t>(b), i, std::min(i + kBlockRows, offsets[b + 1]), nullptr, 0, 0});
      }
    }
    sums.resize(blocks.size() * static_cast<size_t>(width));
    for (size_t n = 0; n < blocks.size(); ++n) blocks[n].sum = sums.data() + n * static_cast<size_t>(width);
  }

  // Calls run(block) for all blocks, in parallel.
  template <class Run>
  void for_each(const Run& run) {
    at::parallel_for(0, static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) run(blocks[n]);
    });
  }

  std::vector<PoolBlock<T>> blocks;
  std::vector<T> sums;
};

// Combines the blocks [first, last) of one item into its row of the result and its log_sum.
template <typename T>
void join(const PoolBlock<T>* first, const PoolBlock<T>* last, int64_t width, T* out, T* log_sum) {
  T largest = -std::numeric_limits<T>::infinity(), total = 0;
  for (const PoolBlock<T>* b = first; b != last; ++b) {
    largest = b->largest > largest || std::isnan(b->largest) ? b->largest : largest;
  }
  for (const PoolBlock<T>* b = first; b != last; ++b) {
    const T share = std::exp(b->largest - largest);
    total += share * b->total;
    for (int64_t t = 0; t < width; ++t) out[t] += share * b->sum[t];
  }
  for (int64_t t = 0; t < width; ++t) out[t] /= total;
  *log_sum = largest + std::log(total);
}

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x_in, const at::Tensor& u_in,
                                           const std::optional<at::Tensor>& ptr) {
  check_softmax_pool(x_in, u_in, ptr);
  const std::vector<int64_t> offsets = packed_offsets(ptr, x_in.size(0), "ptr");
  const at::Tensor x = opmath_contiguous(x_in), u = opmath_contiguous(u_in);
  const int64_t width = x.size(1);
  at::Tensor out = at::zeros({static_cast<int64_t>(offsets.size()) - 1, width}, x.options());
  at::Tensor log_sum = at::zeros({out.size(0)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "softmax_pool", [&] {
    const PoolRows<scalar_t> rows{x.const_data_ptr<scalar_t>(), u.const_data_ptr<scalar_t>(), width};
    PoolBlocks<scalar_t> all(offsets, width);
    all.for_each([&](PoolBlock<scalar_t>& block) { GEOSFT_SIMD_DISPATCH(scalar_t, forward)(rows, block); });
    const PoolBlock<scalar_t>*first = all.blocks.data(), *const end = first + all.blocks.size();
    while (first != end) {
      const PoolBlock<scalar_t>* last = first;
      while (last != end && last->item == first->item) ++last;
      join(first, last, width, out.mutable_data_ptr<scalar_t>() + first->item * width,
           log_sum.mutable_data_ptr<scalar_t>() + first->item);
      first = last;
    }
  });
  return {out, log_sum};
}

std::tuple<at::Tensor, at::Tensor> backward(const at::Tensor& grad_in, const at::Tensor& out_in,
                                            const at::Tensor& log_sum, const at::Tensor& x_in, const at::Tensor& u_in,
                                            const std::optional<at::Tensor>& ptr) {
  check_softmax_pool(x_in, u_in, ptr);
  const std::vector<int64_t> offsets = packed_offsets(ptr, x_in.size(0), "ptr");
  const at::Tensor x = opmath_contiguous(x_in), u = opmath_contiguous(u_in), grad = opmath_contiguous(grad_in),
                   out = opmath_contiguous(out_in);
  TORCH_CHECK(grad.sizes() == out.sizes() && out.dim() == 2 && out.size(1) == x.size(1) &&
                  out.size(0) == static_cast<int64_t>(offsets.size()) - 1 && log_sum.numel() == out.size(0),
              "grad, out and log_sum must have the shapes of the result, got ", grad.sizes(), ", ", out.sizes(),
              " and ", log_sum.sizes());
  const at::Tensor grad_out = (grad * out).sum(1), sums = opmath_contiguous(log_sum);
  const int64_t width = x.size(1);
  at::Tensor x_grad = at::empty_like(x), u_grad = at::zeros_like(u);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "softmax_pool", [&] {
    PoolBlocks<scalar_t> all(offsets, width);
    all.for_each([&](PoolBlock<scalar_t>& block) {
      const PoolRows<scalar_t> rows{x.const_data_ptr<scalar_t>(),
                                    u.const_data_ptr<scalar_t>(),
                                    width,
                                    grad.const_data_ptr<scalar_t>() + block.item * width,
                                    grad_out.const_data_ptr<scalar_t>()[block.item],
                                    sums.const_data_ptr<scalar_t>()[block.item]};
      GEOSFT_SIMD_DISPATCH(scalar_t, backward)(rows, block, x_grad.mutable_data_ptr<scalar_t>());
    });
    scalar_t* to = u_grad.mutable_data_ptr<scalar_t>();
    for (const PoolBlock<scalar_t>& block : all.blocks) {
      for (int64_t t = 0; t < width; ++t) to[t] += block.sum[t];
    }
  });
  return {x_grad.to(x_in.scalar_type()), u_grad.to(x_in.scalar_type())};
}

}  // namespace

GEOSFT_ROW_KERNELS(softmax_pool)

}  // namespace geosft
#endif
