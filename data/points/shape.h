// SPDX-License-Identifier: Apache-2.0
// Defines one point cloud with its label.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/data_error.h"

namespace geosft {

// The part of a point without a label. Such a point is an input of models; losses and metrics leave it out.
inline constexpr int64_t unlabelled_part = -1;

// A cloud as returned by a dataset. Coordinates are not normalised: they are in the unit of the file. Those of clouds
// far from the origin are relative to `offset`, because float32 does not hold them.
struct Shape {
  at::Tensor points;   // float32 [n, 3]
  at::Tensor normals;  // float32 [n, 3] of unit length (0: missing), or undefined if the source has no normals
  int64_t label = -1;  // index into the dataset's class names; -1 when unknown
  std::string name;    // unique within the dataset, for messages and tables
  // int64 [n]: part of each point, an index into the dataset's parts or unlabelled_part; undefined if the source has no
  // parts.
  at::Tensor parts = {};
  // float64 [3], and a factor: coordinates in the file are scale * points + offset. Undefined: no offset.
  at::Tensor offset = {};
  double scale = 1.0;
  // float32 [n, 3]: the normals that were read (0: missing), those of the faces for a mesh, in the frame of the file,
  // of a shape that was prepared for a model, which may be given others; undefined otherwise, and if there are none.
  at::Tensor file_normals = {};
  std::vector<std::string> warnings = {};  // what its reader left out of the file or assumed, a phrase for each
  bool from_mesh = false;                  // whether points and normals were sampled from a mesh
};

// Returns the offset, float64 [3], to subtract from finite coordinates float64 [n, 3], n >= 1, before they are cast to
// float32: undefined unless the cloud is far from the origin compared with its size and the cast would round it.
at::Tensor offset_from_origin(const at::Tensor& coordinates);

// Returns the offsets, float64 [N, 3], of clouds float64 [N, n, 3], n >= 1; 0 where offset_from_origin returns none.
at::Tensor offsets_from_origin(const at::Tensor& clouds);

// Estimates the normals of points that have none (0) and returns their number; 0 for a shape without normals. Their
// signs follow those of the other normals.
int64_t fill_missing_normals(Shape& shape);

// Returns "3 of its 100 points have no normals: they are estimated".
std::string missing_normals_text(const Shape& shape, int64_t missing);

// Returns a warning, "its coordinates are float32 numbers in steps of 0.5, …", if coordinates float64 [n, 3] that came
// from float32 numbers far from the origin are coarse compared with their extent; otherwise an empty text. That is so
// if neighbours on the grid of float32 are more than a thousandth of the extent apart, and the coordinates are on every
// line of that grid, not only on a coarser one.
std::string coarse_coordinates_text(const at::Tensor& coordinates);

// Sets points and offset from finite coordinates float64 [n, 3], n >= 1.
void set_points(Shape& shape, const at::Tensor& coordinates);

// Returns the coordinates of the points in the file [n, 3]: float64 with an offset or a scale, else float32.
at::Tensor file_coordinates(const Shape& shape);

}  // namespace geosft
