// SPDX-License-Identifier: Apache-2.0
#include "data/formats/file_shape.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "data/data_error.h"
#include "data/points/shape.h"
#include "geometry/triangulate_polygon.h"

namespace geosft {
namespace {

at::Tensor rows_of_three(const std::vector<double>& values) {
  return at::from_blob(const_cast<double*>(values.data()), {static_cast<int64_t>(values.size() / 3), 3}, at::kDouble);
}

void check_finite(const at::Tensor& rows, const std::string& file, const std::string& what) {
  const at::Tensor bad = at::isfinite(rows.to(at::kFloat)).all(1).logical_not_();
  if (!bad.any().item<bool>()) return;
  const int64_t row = bad.to(at::kByte).argmax().item<int64_t>();
  const double* value = rows.const_data_ptr<double>() + 3 * row;
  std::ostringstream found;
  found << '(' << value[0] << ", " << value[1] << ", " << value[2] << ") at point " << row + 1;
  throw DataError(file, "finite " + what, found.str());
}

}  // namespace

void FileShapeBuilder::add_polygon(const std::vector<int64_t>& corners, int64_t place) {
  if (corners.size() < 3) {
    throw DataError(file_, "at least 3 corners in a face",
                    std::to_string(corners.size()) + " in " + place_name_ + " " + std::to_string(place));
  }
  corners_.insert(corners_.end(), corners.begin(), corners.end());
  ends_.push_back(static_cast<int64_t>(corners_.size()));
  places_.push_back(place);
}

void FileShapeBuilder::check_corners() const {
  const int64_t count = vertex_count();
  for (size_t i = 0; i < corners_.size(); ++i) {
    if (corners_[i] >= 0 && corners_[i] < count) continue;
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), static_cast<int64_t>(i));
    throw DataError(file_, "corners among the " + std::to_string(count) + " vertices",
                    "corner number " + std::to_string(corners_[i]) + " (counted from 0) in " + place_name_ + " " +
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

at::Tensor FileShapeBuilder::vertex_tensor() const {
  const at::Tensor rows = rows_of_three(vertices_);
  check_finite(rows, file_, "coordinates");
  return rows.clone();
}

at::Tensor FileShapeBuilder::normal_tensor() const {
  if (normals_.empty()) return {};
  if (normals_.size() != vertices_.size()) {
    throw DataError(file_, "a normal for every point or for none",
                    std::to_string(normals_.size() / 3) + " normals of " + std::to_string(vertex_count()) + " points");
  }
  const at::Tensor rows = rows_of_three(normals_);
  check_finite(rows, file_, "normals");
  const at::Tensor length = rows.norm(2, 1, true);
  return at::where(length > 0, rows / length, at::zeros_like(rows)).to(at::kFloat);
}

FileShape FileShapeBuilder::finish(bool needs_faces) {
  if (vertices_.empty()) throw DataError(file_, "at least one point", "none");
  if (needs_faces && ends_.empty()) throw DataError(file_, "at least one face", "none");
  check_corners();
  const at::Tensor vertices = vertex_tensor();
  const bool is_double = declares_double_ || offset_from_origin(vertices).defined();
  return {{vertices, face_tensor()}, normal_tensor(), is_double ? at::kDouble : at::kFloat};
}

}  // namespace geosft
