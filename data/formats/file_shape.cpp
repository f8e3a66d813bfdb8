// SPDX-License-Identifier: Apache-2.0
#include "data/formats/file_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "data/data_error.h"
#include "data/points/shape.h"
#include "geometry/normals.h"
#include "geometry/triangulate_polygon.h"

namespace geosft {
namespace {

at::Tensor rows_of_three(const std::vector<double>& values) {
  return at::from_blob(const_cast<double*>(values.data()), {static_cast<int64_t>(values.size() / 3), 3}, at::kDouble);
}

// Returns which rows are not finite float32 numbers.
at::Tensor non_finite(const at::Tensor& rows) {
  return at::isfinite(rows.to(at::kFloat)).all(1).logical_not_();
}

std::string text_of_first(const at::Tensor& bad, const at::Tensor& rows) {
  const int64_t row = bad.to(at::kByte).argmax().item<int64_t>();
  const double* value = rows.const_data_ptr<double>() + 3 * row;
  std::ostringstream found;
  found << '(' << value[0] << ", " << value[1] << ", " << value[2] << ") at point " << row + 1;
  return found.str();
}

at::ScalarType precision_of(const at::Tensor& vertices) {
  return offset_from_origin(vertices).defined() ? at::kDouble : at::kFloat;
}

}  // namespace

void FileShapeBuilder::add_vertex(double x, double y, double z, int64_t place) {
  if (place > 0 && !(std::isfinite(x) && std::isfinite(y) && std::isfinite(z))) {
    places_of_non_finite_.emplace(vertex_count(), place);
  }
  vertices_.insert(vertices_.end(), {x, y, z});
}

void FileShapeBuilder::add_polygon(const std::vector<int64_t>& corners, int64_t place) {
  if (corners.size() < 3) {
    ++without_area_;
    return;
  }
  corners_.insert(corners_.end(), corners.begin(), corners.end());
  ends_.push_back(static_cast<int64_t>(corners_.size()));
  places_.push_back(place);
}

void FileShapeBuilder::add_strip(const std::vector<int64_t>& corners, int64_t place) {
  size_t begin = 0;
  for (size_t i = 0; i < corners.size(); ++i) {
    if (corners[i] == -1) begin = i + 1;
    if (i < begin + 2) continue;
    const int64_t a = corners[i - 2], b = corners[i - 1], c = corners[i];
    if (a == b || b == c || a == c) continue;  // joins two strips
    add_polygon((i - begin) % 2 == 0 ? std::vector<int64_t>{a, b, c} : std::vector<int64_t>{b, a, c}, place);
  }
}

void FileShapeBuilder::check_corners() const {
  const int64_t count = vertex_count();
  for (size_t i = 0; i < corners_.size(); ++i) {
    if (corners_[i] >= 0 && corners_[i] < count) continue;
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), static_cast<int64_t>(i));
    throw DataError(file_, "corners among the " + std::to_string(count) + " vertices",
                    "corner number " + std::to_string(corners_[i] + first_corner_) + " (counted from " +
                        std::to_string(first_corner_) + ") in " + place_name_ + " " +
                        std::to_string(places_[static_cast<size_t>(end - ends_.begin())]));
  }
}

at::Tensor FileShapeBuilder::face_tensor() const {
  at::Tensor faces = at::empty({triangle_count(), 3}, at::kLong);
  int64_t* row = faces.mutable_data_ptr<int64_t>();
  std::vector<std::array<double, 3>> polygon;
  int64_t begin = 0;
  for (const int64_t end : ends_) {
    const int64_t* corner = corners_.data() + begin;
    if (end - begin == 3) {
      row = std::copy(corner, corner + 3, row);
    } else {
      polygon.clear();
      for (int64_t i = 0; i < end - begin; ++i) {
        const double* place = vertices_.data() + 3 * corner[i];
        polygon.push_back({place[0], place[1], place[2]});
      }
      for (const auto& triangle : triangulate_polygon(polygon)) {
        for (const int64_t i : triangle) *row++ = corner[i];
      }
    }
    begin = end;
  }
  return faces;
}

std::string FileShapeBuilder::place_of_first(const at::Tensor& bad) const {
  const auto line = places_of_non_finite_.find(bad.to(at::kByte).argmax().item<int64_t>());
  return line == places_of_non_finite_.end() ? file_ : file_ + ":" + std::to_string(line->second);
}

at::Tensor FileShapeBuilder::vertex_tensor() {
  const at::Tensor rows = rows_of_three(vertices_);
  const at::Tensor bad = non_finite(rows);
  if (ends_.empty() || !bad.any().item<bool>()) return rows.clone();
  const auto corner_count = static_cast<int64_t>(corners_.size());
  const at::Tensor corners = at::from_blob(corners_.data(), {corner_count}, at::kLong);
  const at::Tensor bad_corners = bad & at::zeros_like(bad).index_fill_(0, corners, true);
  if (bad_corners.any().item<bool>()) {
    throw DataError(place_of_first(bad_corners), "finite coordinates", text_of_first(bad_corners, rows));
  }
  warnings_.push_back(std::to_string(bad.sum().item<int64_t>()) +
                      " vertices without finite coordinates are in no face, and are ignored");
  return at::where(bad.unsqueeze(1), rows[corners_[0]], rows);
}

at::Tensor FileShapeBuilder::normal_tensor() const {
  if (normals_.empty()) return {};
  const bool is_cloud = ends_.empty();
  if (normals_.size() != vertices_.size()) {
    if (!is_cloud) return {};
    throw DataError(file_, "a normal for every point or for none",
                    std::to_string(normals_.size() / 3) + " normals of " + std::to_string(vertex_count()) + " points");
  }
  const at::Tensor rows = rows_of_three(normals_), bad = non_finite(rows);
  if (!is_cloud && bad.any().item<bool>()) return {};
  const at::Tensor known = rows.masked_fill(bad.unsqueeze(1), 0), largest = known.abs().amax(1, /*keepdim=*/true);
  // Numbers that float32 holds are rounded first: they have the bits of the same numbers in an array of float32.
  const at::Tensor held = (largest > 1e-30).logical_and(largest < 1e30);
  const at::Tensor normals = at::where(held, unit_normals(known.to(at::kFloat)), unit_normals(known).to(at::kFloat));
  return is_cloud && !normals.any().item<bool>() ? at::Tensor() : normals;
}

namespace {

// Returns whether numbers that stand for normals are those of colours: whole, from 0 to 255, and some above 1.
bool is_like_colours(const std::vector<double>& values) {
  const auto is_byte = [](double value) { return value >= 0 && value <= 255 && value == std::floor(value); };
  return std::ranges::all_of(values, is_byte) && std::ranges::any_of(values, [](double value) { return value > 1; });
}

}  // namespace

FileShape FileShapeBuilder::finish() {
  if (vertices_.empty()) throw DataError(file_, "at least one point", "none");
  check_corners();
  if (without_area_ > 0) {
    warnings_.push_back(std::to_string(without_area_) + " faces of fewer than 3 corners are ignored");
  }
  const at::Tensor vertices = vertex_tensor(), bad = non_finite(vertices);
  FileShape shape{{vertices, face_tensor()}, normal_tensor(), precision_of(vertices), {}, {}, {}};
  if (declares_double_) shape.precision = at::kDouble;
  if (static_cast<int64_t>(labels_.size()) == vertex_count()) shape.labels = at::tensor(labels_, at::kDouble);
  shape.names = std::move(names_);
  if (is_like_colours(normals_)) {
    warnings_.emplace_back("its normals are whole numbers from 0 to 255, as colours are: --columns names the columns");
  }
  shape.warnings = std::move(warnings_);
  if (const std::string coarse = coarse_coordinates_text(vertices); !coarse.empty()) shape.warnings.push_back(coarse);
  if (bad.any().item<bool>()) {
    shape.invalid_place = place_of_first(bad);
    shape.invalid = text_of_first(bad, vertices);
  }
  return shape;
}

void FileShape::require_finite(const std::string& advice) const {
  if (!invalid.empty()) throw DataError(invalid_place, "finite coordinates" + advice, invalid);
}

at::Tensor FileShape::drop_invalid(const std::string& file) {
  if (invalid.empty()) return {};
  const at::Tensor rows = non_finite(mesh.vertices).logical_not().nonzero().squeeze(1);
  if (rows.size(0) == 0) throw DataError(file, "a point with finite coordinates", "none");
  const int64_t dropped = mesh.vertices.size(0) - rows.size(0);
  warnings.push_back(std::to_string(dropped) + " of its " + std::to_string(mesh.vertices.size(0)) +
                     (dropped == 1 ? " points has no finite coordinates, and is left out"
                                   : " points have no finite coordinates, and are left out"));
  mesh.vertices = mesh.vertices.index_select(0, rows);
  if (normals.defined()) normals = normals.index_select(0, rows);
  if (labels.defined()) labels = labels.index_select(0, rows);
  if (normals.defined() && !normals.any().item<bool>()) normals.reset();
  if (precision == at::kFloat) precision = precision_of(mesh.vertices);
  invalid.clear();
  invalid_place.clear();
  return rows;
}

}  // namespace geosft
