// SPDX-License-Identifier: Apache-2.0
// Clouds with a part for every point, as text.
#pragma once

#include <string>
#include <string_view>

#include "data/points/shape.h"

namespace geosft {

// ShapeNetPart with normals: "x y z nx ny nz part" a line, the part an integer, also when it is written 3.000000. The
// name of the shape becomes `file`. Throws DataError with the line.
Shape read_labelled_points(std::string_view text, const std::string& file);

// The older form: an integer a line for each of `points` points, int64 [points]. Throws DataError with the line.
at::Tensor read_point_labels(std::string_view text, int64_t points, const std::string& file);

}  // namespace geosft
