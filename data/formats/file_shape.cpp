// SPDX-License-Identifier: Apache-2.0
#include "data/formats/file_shape.h"

#include <sstream>

#include "data/data_error.h"

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
  for (size_t i = 2; i < corners.size(); ++i) {
    faces_.insert(faces_.end(), {corners[0], corners[i - 1], corners[i]});
    places_.push_back(place);
  }
}

void FileShapeBuilder::check_corners() const {
  const int64_t count = vertex_count();
  for (size_t i = 0; i < faces_.size(); ++i) {
    if (faces_[i] >= 0 && faces_[i] < count) continue;
    throw DataError(file_, "corners among the " + std::to_string(count) + " vertices",
                    "corner number " + std::to_string(faces_[i]) + " (counted from 0) in " + place_name_ + " " +
                        std::to_string(places_[i / 3]));
  }
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
  if (needs_faces && faces_.empty()) throw DataError(file_, "at least one face", "none");
  check_corners();
  const at::Tensor faces = at::from_blob(faces_.data(), {triangle_count(), 3}, at::kLong).clone();
  return {{vertex_tensor(), faces}, normal_tensor()};
}

}  // namespace geosft
