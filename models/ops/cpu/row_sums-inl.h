// SPDX-License-Identifier: Apache-2.0
// Accumulates the row gradients of a backward unit.
#if defined(GEOSFT_ROW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ROW_SUMS_INL_H_
#undef GEOSFT_ROW_SUMS_INL_H_
#else
#define GEOSFT_ROW_SUMS_INL_H_
#endif

#include <vector>

#include "models/ops/cpu/attention_gradients.h"
#include "models/ops/cpu/row_accessor-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

// The rows and columns of a unit, either in its copy of the gradient, or in the worker's memory, which is written to
// the gradient when the unit ends.
template <typename T>
class RowSums {
 public:
  void begin(const Block& block, const RowGradient<T>& gradient, int64_t copy) {
    block_ = block;
    T* const sums = gradient.sums(copy);
    if (sums != nullptr) {
      numbers_ = {sums + block.row * gradient.width() + block.column, gradient.width()};
      return;
    }
    own_.assign(gradient.defined() ? static_cast<size_t>(block.size()) : 0, T(0));
    numbers_ = {gradient.defined() ? own_.data() : nullptr, block.columns};
  }
  // Null if the gradient is not requested.
  T* at(int64_t row, int64_t column) const {
    if (numbers_.data == nullptr) return nullptr;
    return numbers_.data + (row - block_.row) * numbers_.stride + column - block_.column;
  }
  int64_t stride() const { return numbers_.stride; }
  void end(const RowGradient<T>& gradient) const {
    if (!own_.empty() && numbers_.data == own_.data()) write_block(own_.data(), gradient.rows(0), block_);
  }

 private:
  std::vector<T> own_;
  Block block_{};
  BlockNumbers<T> numbers_{};
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
