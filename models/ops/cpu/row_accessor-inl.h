// SPDX-License-Identifier: Apache-2.0
// Reads and writes blocks of rows through a RowAccessor in the type that kernels compute in, and accumulates the row
// gradients of a backward unit.
#if defined(GEOSFT_ROW_ACCESSOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ROW_ACCESSOR_INL_H_
#undef GEOSFT_ROW_ACCESSOR_INL_H_
#else
#define GEOSFT_ROW_ACCESSOR_INL_H_
#endif

#include <vector>

#include "models/ops/cpu/attention_gradients.h"
#include "models/ops/cpu/transpose-inl.h"

GEOSFT_SIMD_BEGIN();

// A rectangle of stored rows.
struct Block {
  int64_t row, rows, column, columns;
  int64_t size() const { return rows * columns; }
};

// Elements of a block in T, with `stride` between rows.
template <typename T>
struct BlockNumbers {
  T* data;
  int64_t stride;
};

// Returns the block in place, or widened into `buffer` of block.size() elements.
template <typename T>
BlockNumbers<const T> read_block(const RowAccessor<const T>& from, const Block& block, T* HWY_RESTRICT buffer) {
  if (from.computed()) return {from.at(block.row, block.column), from.width};
  from.visit([&](const auto* numbers) {
    for (int64_t i = 0; i < block.rows; ++i) {
      const auto* HWY_RESTRICT row = numbers + (block.row + i) * from.width + block.column;
      T* HWY_RESTRICT to = buffer + i * block.columns;
      for (int64_t t = 0; t < block.columns; ++t) to[t] = static_cast<T>(row[t]);
    }
  });
  return {buffer, block.columns};
}

// Writes the elements of a block, block.columns per row, rounded to the storage type.
template <typename T>
void write_block(const T* HWY_RESTRICT from, const RowAccessor<T>& to, const Block& block) {
  to.visit([&](auto* numbers) {
    using Number = std::remove_pointer_t<decltype(numbers)>;
    for (int64_t i = 0; i < block.rows; ++i) {
      auto* HWY_RESTRICT row = numbers + (block.row + i) * to.width + block.column;
      for (int64_t t = 0; t < block.columns; ++t) row[t] = static_cast<Number>(from[i * block.columns + t]);
    }
  });
}

// Apply pack_rows and unpack_rows to stored rows; `buffer` has block.size() elements unless they are of type T.
template <typename T>
void pack_block(const RowAccessor<const T>& from, const Block& block, int64_t padded, T* buffer, T* to) {
  const BlockNumbers<const T> numbers = read_block(from, block, buffer);
  pack_rows(numbers.data, numbers.stride, block.rows, padded, block.columns, to);
}
template <typename T>
void unpack_block(const T* from, const RowAccessor<T>& to, const Block& block, T* buffer) {
  if (to.computed()) return unpack_rows(from, block.rows, block.columns, to.at(block.row, block.column), to.width);
  unpack_rows(from, block.rows, block.columns, buffer, block.columns);
  write_block(buffer, to, block);
}

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
    block_sums_.assign(gradient.defined() ? static_cast<size_t>(block.size()) : 0, T(0));
    numbers_ = {gradient.defined() ? block_sums_.data() : nullptr, block.columns};
  }
  // Null if the gradient is not requested.
  T* at(int64_t row, int64_t column) const {
    if (numbers_.data == nullptr) return nullptr;
    return numbers_.data + (row - block_.row) * numbers_.stride + column - block_.column;
  }
  int64_t stride() const { return numbers_.stride; }
  void end(const RowGradient<T>& gradient) const {
    if (!block_sums_.empty() && numbers_.data == block_sums_.data())
      write_block(block_sums_.data(), gradient.rows(0), block_);
  }

 private:
  std::vector<T> block_sums_;
  Block block_{};
  BlockNumbers<T> numbers_{};
};

GEOSFT_SIMD_END();
#endif
