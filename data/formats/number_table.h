// SPDX-License-Identifier: Apache-2.0
// Tables of numbers in comma-separated text without a header, plain or .gz.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace geosft {

struct NumberTable {
  std::filesystem::path file;
  int64_t columns = 0;
  std::vector<float> values;   // [rows, columns]; NaN for an empty field or "nan", where the reader allows them
  std::vector<int64_t> lines;  // of the rows
  bool categories = false;     // whether all are integers, written as such, from 0 to less than 2^20

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }
  at::Tensor tensor() const;                  // float32 [rows, columns]
  std::vector<int64_t> column_sizes() const;  // 1 + the largest number of every column, of a table of categories
};

// All rows of one width. Throws DataError, naming file and line, for rows of another width, words that are no numbers
// or not finite, missing numbers unless they are allowed, and an empty file.
NumberTable read_number_table(const std::filesystem::path& file, bool allow_missing = false);

// Rows of `columns` integers each, one after the other. May be empty.
struct IntegerTable {
  std::filesystem::path file;
  std::vector<int64_t> values, lines;

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }
};
IntegerTable read_integer_table(const std::filesystem::path& file, size_t columns, const char* what);

}  // namespace geosft
