// SPDX-License-Identifier: Apache-2.0
#include "data/formats/number_table.h"

#include <cmath>
#include <string>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/csv_rows.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

bool is_category(std::string_view word) {
  constexpr int64_t maximum = int64_t{1} << 20;
  const std::optional<int64_t> number = parse_integer(word);
  return number && *number >= 0 && *number < maximum;
}

void check_width(const CsvRows& rows, int64_t width) {
  if (static_cast<int64_t>(rows.size()) == width) return;
  rows.fail(std::to_string(width) + " columns", std::to_string(rows.size()));
}

}  // namespace

at::Tensor NumberTable::tensor() const {
  return at::tensor(values).view({rows(), columns});
}

std::vector<int64_t> NumberTable::column_sizes() const {
  const at::Tensor sizes = std::get<0>(tensor().max(0)).to(at::kLong) + 1;
  return {sizes.const_data_ptr<int64_t>(), sizes.const_data_ptr<int64_t>() + columns};
}

NumberTable read_number_table(const std::filesystem::path& path, bool allow_missing) {
  NumberTable table;
  table.file = file_or_gz(path);
  const std::string text = read_gz_file(table.file);
  CsvRows rows(text, table.file.string());
  table.categories = true;
  while (rows.next()) {
    if (table.rows() == 0) table.columns = static_cast<int64_t>(rows.size());
    check_width(rows, table.columns);
    for (size_t column = 0; column < rows.size(); ++column) {
      table.categories = table.categories && is_category(rows[column]);
      const double value = allow_missing ? rows.number_or_nan(column, "a number") : rows.number(column, "a number");
      table.values.push_back(static_cast<float>(value));
    }
    table.lines.push_back(rows.line_number());
  }
  if (table.rows() == 0) throw DataError(table.file.string(), "rows of numbers", "none");
  return table;
}

IntegerTable read_integer_table(const std::filesystem::path& path, size_t columns, const char* what) {
  IntegerTable table;
  table.file = file_or_gz(path);
  const std::string text = read_gz_file(table.file);
  CsvRows rows(text, table.file.string());
  while (rows.next()) {
    check_width(rows, static_cast<int64_t>(columns));
    for (size_t column = 0; column < columns; ++column) table.values.push_back(rows.integer(column, what));
    table.lines.push_back(rows.line_number());
  }
  return table;
}

}  // namespace geosft
