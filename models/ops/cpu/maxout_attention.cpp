// SPDX-License-Identifier: Apache-2.0
// Computes maxout_attention on the CPU. Its attention bias is r_mul and r_add as the caller computed them, one number
// per query, key and head. Each number is read once and each gradient written once.
#include "models/ops/maxout_attention.h"

#include "models/ops/cpu/attention_arguments.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/maxout_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/row_accessor-inl.h"

#ifndef GEOSFT_DENSE_ATTENTION_ONCE
#define GEOSFT_DENSE_ATTENTION_ONCE
namespace geosft {
namespace {

// r_mul and r_add, [sum_b nq_b * nk_b, heads]; either may be absent. The rows of item b begin at pair_offsets[b]. The
// gradients have the same shapes, and are undefined if they are not requested.
template <typename T>
struct DenseArrays {
  RowAccessor<const T> mul, add;
  const std::vector<int64_t>* q_offsets = nullptr;
  std::vector<int64_t> pair_offsets;
  at::Tensor mul_grad, add_grad;
};

struct MaxoutAttention {
  using Inputs = MaxoutInputs;
  MaxoutAttention(const Inputs& in, const AttentionArguments&)
      : mul(contiguous(in.r_mul())), add(contiguous(in.r_add())) {}

  template <typename T>
  DenseArrays<T> arrays(const AttentionProblem<T>& problem) const {
    DenseArrays<T> arrays{
        stored_rows<T>(mul, problem.heads), stored_rows<T>(add, problem.heads), &problem.q_offsets, {0}, {}, {}};
    for (int64_t b = 0; b < problem.items(); ++b) {
      arrays.pair_offsets.push_back(arrays.pair_offsets.back() + problem.queries(b) * problem.keys(b));
    }
    check_pairs(mul, "r_mul", arrays.pair_offsets.back());
    check_pairs(add, "r_add", arrays.pair_offsets.back());
    return arrays;
  }

  template <typename T>
  void begin_gradients(const AttentionProblem<T>&, const BackwardPlan&, const OutputMask& output_mask,
                       DenseArrays<T>& arrays) const {
    if (output_mask.bias_input(0)) arrays.mul_grad = at::empty_like(mul);
    if (output_mask.bias_input(1)) arrays.add_grad = at::empty_like(add);
  }
  template <typename T>
  std::vector<at::Tensor> gradients(DenseArrays<T>& arrays) const {
    std::vector<at::Tensor> gradients;
    const auto append = [&](const at::Tensor& r, const at::Tensor& gradient) {
      if (r.defined()) gradients.push_back(gradient.defined() ? gradient : at::empty({0}, r.options()));
    };
    append(mul, arrays.mul_grad);
    append(add, arrays.add_grad);
    return gradients;
  }
  SharedWidths widths(int64_t, const OutputMask&) const { return {}; }

  static void check_pairs(const at::Tensor& r, const char* name, int64_t pairs) {
    TORCH_CHECK(!r.defined() || r.size(0) == pairs, name, " must have sum_b nq_b * nk_b = ", pairs, " rows, got shape ",
                r.sizes());
  }

  at::Tensor mul, add;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

template <typename T>
class DenseBias final : public AttentionBias<T> {
 public:
  using Arrays = DenseArrays<T>;

  DenseBias(const Arrays& arrays, int64_t heads, bool /*backward*/)
      : in_(arrays),
        mul_to_(writable_rows<T>(arrays.mul_grad, heads)),
        add_to_(writable_rows<T>(arrays.add_grad, heads)),
        heads_(heads),
        mul_(kKeyTile * kQueryBlock),
        add_(kKeyTile * kQueryBlock) {
    std::fill_n(mul_.get(), kKeyTile * kQueryBlock, T(1));
    std::fill_n(add_.get(), kKeyTile * kQueryBlock, T(0));
  }

  void begin_unit(const AttentionUnit& unit) override { unit_ = unit; }
  void begin_block(int64_t first_query, int64_t rows) override {
    first_query_ = first_query - (*in_.q_offsets)[unit_.item];
    rows_ = rows;
    padded_ = padded_rows<T>(rows);
  }
  void begin_tile(int64_t first_key, int64_t keys) override {
    first_key_ = first_key - unit_.k_begin;
    keys_ = keys;
  }

  BiasTile<T> fill(int64_t head) override {
    if (in_.mul) gather(in_.mul, head, mul_.get());
    if (in_.add) gather(in_.add, head, add_.get());
    return {mul_.get(), add_.get()};
  }

  void backward(int64_t head, T* add_grad, T* raw) override {
    if (add_to_) scatter(add_to_, head, [&](int64_t at) { return add_grad[at]; });
    if (mul_to_) scatter(mul_to_, head, [&](int64_t at) { return add_grad[at] * raw[at]; });
  }

 private:
  int64_t index(int64_t i, int64_t j, int64_t head) const {
    const int64_t keys = unit_.k_end - unit_.k_begin;
    return (in_.pair_offsets[unit_.item] + (first_query_ + i) * keys + first_key_ + j) * heads_ + head;
  }

  void gather(const RowAccessor<const T>& from, int64_t head, T* to) const {
    from.visit([&](const auto* numbers) {
      for (int64_t j = 0; j < keys_; ++j) {
        for (int64_t i = 0; i < rows_; ++i) to[j * kQueryBlock + i] = static_cast<T>(numbers[index(i, j, head)]);
        std::fill(to + j * kQueryBlock + rows_, to + j * kQueryBlock + padded_, T(0));
      }
    });
  }

  // gradient(at) returns the gradient at an index of the tile.
  template <class Gradient>
  void scatter(const RowAccessor<T>& to, int64_t head, const Gradient& gradient) const {
    to.visit([&](auto* numbers) {
      using Number = std::remove_pointer_t<decltype(numbers)>;
      for (int64_t i = 0; i < rows_; ++i) {
        for (int64_t j = 0; j < keys_; ++j) {
          numbers[index(i, j, head)] = static_cast<Number>(gradient(j * kQueryBlock + i));
        }
      }
    });
  }

  const Arrays& in_;
  RowAccessor<T> mul_to_, add_to_;
  int64_t heads_;
  Scratch<T> mul_, add_;
  AttentionUnit unit_{};
  int64_t first_query_ = 0, rows_ = 0, padded_ = 0, first_key_ = 0, keys_ = 0;
};

template <typename T>
std::unique_ptr<AttentionBias<T>> make_bias_any(const DenseArrays<T>& arrays, int64_t heads, bool backward) {
  if (!arrays.mul && !arrays.add) return nullptr;
  return std::make_unique<DenseBias<T>>(arrays, heads, backward);
}

GEOSFT_SIMD_KERNEL(make_bias)

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_REGISTER_ATTENTION(MaxoutAttention)
#endif
