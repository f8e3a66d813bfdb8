// SPDX-License-Identifier: Apache-2.0
// A scene independent of the renderer: points, markers, edges, and texts.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/experiment/colour_map.h"

namespace geosft::view {

// Balls of any size.
struct Balls {
  at::Tensor centres;  // double [n, 3]
  at::Tensor radii;    // double [n]
  at::Tensor colours;  // double [n, 3], in [0, 1]
};

// What the colours mean: a bar with numbers, or names.
struct Legend {
  std::string title;
  std::optional<std::pair<ColourMap, ValueScale>> bar;
  std::vector<std::pair<std::string, Colour>> names;
};

struct Scene {
  at::Tensor points;   // double [n, 3]; row i is what a click on it picks
  at::Tensor colours;  // double [n, 3], in [0, 1]
  at::Tensor values;   // double or int64 [n] that the colours stand for; undefined where they stand for none
  std::string value_name = "value";  // what they are called in files
  at::Tensor edges;                  // int64 [E, 2], rows of points; undefined without any
  double radius = 0;                 // of a point drawn as a ball
  Balls markers;                     // beside the points; undefined tensors: none
  Legend legend;
  std::string title;               // of the window
  std::vector<std::string> lines;  // in the picture
};

// A radius at which spheres around n points spread over their bounding box neither hide each other nor vanish.
double fitting_radius(const at::Tensor& points);

// `right` moved beside `left` along x with a gap; texts and legend are those of `left`, and rows of `right` come after
// its own.
Scene side_by_side(const Scene& left, const Scene& right);

// Points as balls, markers, edges as tubes: one mesh. double [V, 3] each but triangles, int64 [F, 3], counted
// anticlockwise seen from outside.
struct Mesh {
  at::Tensor vertices, normals, colours, triangles;
};
Mesh mesh_of_balls(const Balls& balls, int refinements);
// Tubes of the given radius between rows of points.
Mesh mesh_of_edges(const at::Tensor& points, const at::Tensor& edges, double radius, const Colour& colour);
// Concatenates meshes; undefined tensors without any.
Mesh joined(const std::vector<Mesh>& meshes);

// Rows of at most about `most` points, one a cell of a grid: what is drawn of a large cloud while it moves. int64 [m],
// ascending; all of them where there are no more.
at::Tensor thinned_rows(const at::Tensor& points, int64_t most);

}  // namespace geosft::view
