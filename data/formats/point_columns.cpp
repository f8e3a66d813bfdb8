// SPDX-License-Identifier: Apache-2.0
#include "data/formats/point_columns.h"

#include <algorithm>
#include <cmath>

#include "data/formats/text_lines.h"

namespace geosft {
namespace {

// Returns 0 … 5 for the name of a coordinate or of a component of a normal, otherwise 6.
size_t role_of(std::string_view column) {
  const std::string name = lower_case(column);
  constexpr std::string_view axes = "xyz";
  if (name.size() == 1) return std::min(axes.find(name[0]), size_t{6});
  for (const std::string_view prefix : {"n", "normal_", "normal", "n_"}) {
    if (name.size() != prefix.size() + 1 || !name.starts_with(prefix)) continue;
    const size_t axis = axes.find(name.back());
    if (axis != std::string_view::npos) return 3 + axis;
  }
  return 6;
}

}  // namespace

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
  return columns;
}

PointColumns numbered_columns(size_t count) {
  PointColumns columns;
  columns.has_normals = columns.normals_assumed = count >= 6;
  return columns;
}

void PointRows::add(const std::array<double, 6>& value, int64_t place) {
  builder_.add_vertex(value[0], value[1], value[2], place);
  if (columns_.has_normals) directions_.insert(directions_.end(), value.begin() + 3, value.end());
}

bool PointRows::are_normals() {
  if (!columns_.normals_assumed) return columns_.has_normals;
  if (column_count_ == 6) {
    constexpr double above_normals = 10;
    const bool negative = std::any_of(directions_.begin(), directions_.end(), [](double value) { return value < 0; });
    const auto large = [](double value) { return value > above_normals && std::isfinite(value); };
    if (negative || std::none_of(directions_.begin(), directions_.end(), large)) return true;
    builder_.add_warning("columns 4 to 6 are taken as colours, not as normals");
    return false;
  }
  bool any = false;
  for (size_t i = 0; i < directions_.size(); i += 3) {
    const double length = std::hypot(directions_[i], directions_[i + 1], directions_[i + 2]);
    if (length != 0 && !(std::abs(length - 1) < 0.01)) return false;
    any = any || length != 0;
  }
  return any;
}

void PointRows::finish() {
  if (!are_normals()) return;
  for (size_t i = 0; i < directions_.size(); i += 3) {
    builder_.add_normal(directions_[i], directions_[i + 1], directions_[i + 2]);
  }
}

}  // namespace geosft
