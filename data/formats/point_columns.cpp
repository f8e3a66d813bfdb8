// SPDX-License-Identifier: Apache-2.0
#include "data/formats/point_columns.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "data/data_error.h"
#include "data/formats/point_labels.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {
namespace {

// Returns 0 … 5 for the name of a coordinate or of a component of a normal, otherwise 6. A unit after it, as in "x
// [mm]", is no part of the name.
size_t role_of(std::string_view column) {
  const std::string name = lower_case(trimmed(column.substr(0, column.find_first_of("[("))));
  constexpr std::string_view axes = "xyz";
  if (name.size() == 1) return std::min(axes.find(name[0]), size_t{6});
  for (const std::string_view prefix : {"n", "normal_", "normal", "n_"}) {
    if (name.size() != prefix.size() + 1 || !name.starts_with(prefix)) continue;
    const size_t axis = axes.find(name.back());
    if (axis != std::string_view::npos) return 3 + axis;
  }
  // ParaView's names: "Points:0", "Normals_2".
  for (const std::string_view prefix : {"points", "normals"}) {
    if (name.size() != prefix.size() + 2 || !name.starts_with(prefix)) continue;
    const char separator = name[prefix.size()], axis = name.back();
    if ((separator == ':' || separator == '_') && axis >= '0' && axis <= '2') {
      return (prefix == "points" ? size_t{0} : size_t{3}) + static_cast<size_t>(axis - '0');
    }
  }
  return 6;
}

// Returns whether the number may be a channel of a colour: 0 … 1, 0 … 255 or, as an integer, 0 … 65535.
bool is_channel(double value) {
  return value >= 0 && (value <= 255 || (value <= 65535 && value == std::floor(value)));
}

}  // namespace

std::vector<std::string_view> column_names(std::string_view columns, char delimiter) {
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin <= columns.size();) {
    const size_t end = std::min(columns.find(delimiter, begin), columns.size());
    std::string_view name = trimmed(columns.substr(begin, end - begin));
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

PointColumns said_columns(const std::string& columns, size_t count, const std::string& file) {
  const std::vector<std::string_view> names = column_names(columns);
  const std::optional<PointColumns> named = named_columns(names);
  if (!named) throw DataError("--columns: " + columns_error(columns));
  if (names.size() != count) {
    throw DataError(file, std::to_string(names.size()) + " columns, as many as --columns names", std::to_string(count));
  }
  return *named;
}

std::string columns_error(const std::string& columns) {
  if (columns.empty()) return "";
  std::array<int64_t, 7> count{};
  for (const std::string_view name : column_names(columns)) ++count[role_of(name)];
  const std::string found = ", found '" + columns + "'";
  if (count[0] == 0 || count[1] == 0 || count[2] == 0) {
    return "expected names with x, y and z among them, such as x,y,z,r,g,b" + found;
  }
  if (std::any_of(count.begin(), count.end() - 1, [](int64_t columns_of) { return columns_of > 1; })) {
    return "expected each coordinate and each component of a normal once" + found;
  }
  if (const int64_t of_normals = count[3] + count[4] + count[5]; of_normals != 0 && of_normals != 3) {
    return "expected nx, ny and nz, or none of them" + found;
  }
  return "";
}

std::optional<PointColumns> named_columns(const std::vector<std::string_view>& names) {
  PointColumns columns;
  std::array<bool, 7> has{};
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t role = role_of(names[i]);
    if (role < 6 && !has[role]) columns.at[role] = i;
    has[role] = true;
  }
  if (!(has[0] && has[1] && has[2])) return std::nullopt;
  columns.has_normals = has[3] && has[4] && has[5];
  columns.label = label_column(names);
  return columns;
}

PointColumns numbered_columns(size_t count) {
  PointColumns columns;
  columns.numbered = true;
  columns.has_normals = count >= 6;
  return columns;
}

void PointRows::add(const std::array<double, 6>& value, int64_t place) {
  builder_.add_vertex(value[0], value[1], value[2], place);
  if (rows_++ > 0 && value[0] == first_coordinate_ + 1) ++counted_;
  first_coordinate_ = value[0];
  if (columns_.has_normals) directions_.insert(directions_.end(), value.begin() + 3, value.end());
}

bool PointRows::are_normals() {
  if (!columns_.numbered) return columns_.has_normals;
  constexpr double unit_tolerance = 0.02;  // two decimals in the file
  bool any = false, are_unit = true, are_colours = true;
  size_t unit_rows = 0, colour_rows = 0, first_not_unit = 0, first_not_colour = 0;
  for (size_t i = 0; i < directions_.size(); i += 3) {
    const double* value = directions_.data() + i;
    const double length = std::hypot(value[0], value[1], value[2]);
    if (column_count_ > 6 && !std::isfinite(length)) are_unit = false;  // words
    if (length == 0 || !std::isfinite(length)) continue;
    any = true;
    const bool is_unit = std::abs(length - 1) < unit_tolerance;
    const bool is_colour = std::all_of(value, value + 3, is_channel);
    if (is_unit) ++unit_rows;
    if (is_colour) ++colour_rows;
    if (are_unit && !is_unit) first_not_unit = i;
    if (are_colours && !is_colour) first_not_colour = i;
    are_unit = are_unit && is_unit;
    are_colours = are_colours && is_colour;
  }
  if (!any || are_unit) return any;
  if (column_count_ > 6) {
    builder_.add_warning("columns 4 to " + std::to_string(column_count_) +
                         " are ignored; --columns tells of normals among them");
    return false;
  }
  if (!are_colours) {  // the row that is unlike most others
    const size_t first = unit_rows > colour_rows ? first_not_unit : first_not_colour;
    fail_between(directions_.data() + first, first / 3 + 1);
  }
  builder_.add_warning("columns 4 to 6 are taken as colours, not as normals");
  return false;
}

void PointRows::fail_between(const double* value, size_t point) const {
  std::ostringstream found;
  found << '(' << value[0] << ", " << value[1] << ", " << value[2] << ") at point " << point;
  throw DataError(builder_.file(),
                  "normals of length 1 or colours in 0 … 255 in columns 4 to 6, or, as they lie in the "
                  "file, --columns x,y,z,nx,ny,nz, --columns nx,ny,nz,x,y,z or --columns x,y,z,r,g,b",
                  found.str());
}

void PointRows::warn_of_index() const {
  constexpr int64_t few = 16;
  if (!columns_.numbered || column_count_ < 4 || rows_ <= few || counted_ + 1 < rows_) return;
  builder_.add_warning("column 1 counts the rows, and is taken as x: an index is left out by --columns i,x,y,z" +
                       std::string(column_count_ == 7 ? ",nx,ny,nz" : ""));
}

void PointRows::finish() {
  warn_of_index();
  if (!are_normals()) return;
  for (size_t i = 0; i < directions_.size(); i += 3) {
    builder_.add_normal(directions_[i], directions_[i + 1], directions_[i + 2]);
  }
}

}  // namespace geosft
