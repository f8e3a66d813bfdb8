// SPDX-License-Identifier: Apache-2.0
// Reads and writes blocks of rows through a RowAccessor in the type that kernels compute in.
#if defined(GEOSFT_ROW_ACCESSOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_ROW_ACCESSOR_INL_H_
#undef GEOSFT_ROW_ACCESSOR_INL_H_
#else
#define GEOSFT_ROW_ACCESSOR_INL_H_
#endif

#include "models/ops/cpu/row_accessor.h"
#include "models/ops/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
