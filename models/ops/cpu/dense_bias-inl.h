// SPDX-License-Identifier: Apache-2.0
// Reads the attention bias of maxout_attention: r_mul and r_add as the caller computed them, one number per query, key
// and head. Each number is read once and each gradient written once.
#if defined(GEOSFT_DENSE_TERM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_DENSE_TERM_INL_H_
#undef GEOSFT_DENSE_TERM_INL_H_
#else
#define GEOSFT_DENSE_TERM_INL_H_
#endif

#include "models/ops/cpu/attention_bias.h"
#include "models/ops/cpu/score_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
class DenseBias {
 public:
  using Input = DenseInput<T>;
  using Output = DenseOutput<T>;

  DenseBias(const Input& input, int64_t heads)
      : in_(input), heads_(heads), mul_(kKeyTile * kQueryBlock), add_(kKeyTile * kQueryBlock) {}
  DenseBias(const Input& input, const Output& output, int64_t heads) : DenseBias(input, heads) {
    mul_to_ = writable_rows<T>(output.mul, heads);
    add_to_ = writable_rows<T>(output.add, heads);
  }

  void begin_unit(const AttentionUnit& unit) { unit_ = unit; }
  void end_unit() {}
  void begin_block(int64_t first_query, int64_t rows) {
    first_query_ = first_query - (*in_.q_offsets)[unit_.item];
    rows_ = rows;
    padded_ = padded_rows<T>(rows);
  }
  void begin_tile(int64_t first_key, int64_t keys) {
    first_key_ = first_key - unit_.k_begin;
    keys_ = keys;
  }

  BiasTile<T> fill(int64_t head) {
    if (in_.mul) gather(in_.mul, head, mul_.get());
    if (in_.add) gather(in_.add, head, add_.get());
    return {in_.mul ? mul_.get() : nullptr, in_.add ? add_.get() : nullptr};
  }

  void backward(int64_t head, T* add_grad, T* raw) {
    if (add_to_) scatter(add_to_, head, [&](int64_t at) { return add_grad[at]; });
    if (mul_to_) scatter(mul_to_, head, [&](int64_t at) { return add_grad[at] * raw[at]; });
  }
  void end_tile() {}
  void end_block() {}

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

  const Input& in_;
  RowAccessor<T> mul_to_, add_to_;
  int64_t heads_;
  Scratch<T> mul_, add_;
  AttentionUnit unit_{};
  int64_t first_query_ = 0, rows_ = 0, padded_ = 0, first_key_ = 0, keys_ = 0;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
