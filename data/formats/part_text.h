// SPDX-License-Identifier: Apache-2.0
// Reads text clouds with a part per point.
#pragma once

#include <string>
#include <string_view>

#include "data/formats/file_shape.h"
#include "data/points/shape.h"

namespace geosft {

// Reads ShapeNetPart with normals: lines "x y z nx ny nz part". The part is an integer, possibly written as 3.000000,
// or -1 (unlabelled_part). The name of the shape is `file`. Points without finite coordinates are dropped with
// `drop_invalid`. Throws DataError with the line.
Shape read_labelled_points(std::string_view text, const std::string& file, bool drop_invalid = false);

// Returns the points and normals of a file as a shape of this name, with a part int64 [n] for each point. Points
// without finite coordinates are dropped with `drop_invalid`, of which the shape has a warning. Otherwise throws
// DataError with the place of the first one.
Shape labelled_cloud(FileShape content, at::Tensor parts, const std::string& file, bool drop_invalid);

// Reads the older format, one integer per line for each of `points` points, as int64 [points]; -1 is unlabelled_part.
// Throws DataError with the line.
at::Tensor read_point_labels(std::string_view text, int64_t points, const std::string& file);

}  // namespace geosft
