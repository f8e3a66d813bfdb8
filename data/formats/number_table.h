// SPDX-License-Identifier: Apache-2.0
// Reads tables of numbers from comma-separated text without a header, plain or .gz.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace geosft {

struct NumberTable {
  std::filesystem::path file;
  int64_t columns = 0;
  std::vector<float> values;   // [rows, columns]; NaN for an empty field or "nan", if missing numbers are allowed
  std::vector<int64_t> lines;  // line number of each row
  bool categories = false;     // whether all numbers are written as integers in 0 … 2^20 - 1

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }
  at::Tensor tensor() const;                  // float32 [rows, columns]
  std::vector<int64_t> column_sizes() const;  // largest number of each column + 1, for categories
};

// Reads rows of equal width. Throws DataError, naming file and line, for rows of another width, non-numeric or
// non-finite words, missing numbers unless `allow_missing`, and an empty file.
NumberTable read_number_table(const std::filesystem::path& file, bool allow_missing = false);

// Rows of a fixed number of integers, concatenated. May be empty.
struct IntegerTable {
  std::filesystem::path file;
  std::vector<int64_t> values, lines;

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }
};
IntegerTable read_integer_table(const std::filesystem::path& file, size_t columns, const char* what);

}  // namespace geosft
