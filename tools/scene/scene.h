// SPDX-License-Identifier: Apache-2.0
// Defines a scene independently of the renderer: points, markers, edges and texts.
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

// Explains the colours: a colour bar with numbers, or names.
struct Legend {
  std::string title;
  std::optional<std::pair<ColourMap, ValueScale>> bar;
  std::vector<std::pair<std::string, Colour>> names;
};

// A triangle mesh: double [V, 3], except triangles int64 [F, 3], which are anticlockwise seen from outside.
struct ColouredMesh {
  at::Tensor vertices, normals, colours, triangles;
};

// In the coordinates of the file, or of the layout of a graph.
struct Scene {
  at::Tensor points;   // double [n, 3]; a click picks row i
  at::Tensor colours;  // double [n, 3], in [0, 1]
  at::Tensor values;   // double or int64 [n], shown by the colours; undefined if the colours show no values
  std::string value_name = "value";  // name of the values in files
  at::Tensor edges;                  // int64 [E, 2], rows of points; undefined without edges
  at::Tensor edge_widths;            // double [E], relative to the usual one; undefined: 1
  at::Tensor edge_lines;             // int64 [E], 1 … 4 parallel lines (bond_lines); undefined: one
  at::Tensor normals;                // double [n, 3], of unit length: points are discs; undefined: balls
  double radius = 0;                 // of a point drawn as a ball or a disc
  Colour background = {1, 1, 1};
  std::optional<ColouredMesh> surface;  // drawn in place of the points
  Balls markers;                        // in addition to the points; undefined tensors: no markers
  Legend legend;
  at::Tensor rows;                  // int64 [n]: of the subject, where some of its points are hidden
  std::vector<std::string> labels;  // [n] of the points, in pictures; empty: none
  std::string title;                // of the window
  std::vector<std::string> lines;   // in the picture
};

// Returns a radius at which spheres at the points neither hide each other nor vanish, for points of an extent of 1 if
// all are equal.
double fitting_radius(const at::Tensor& points);

// Places `right` next to `left` along x with a gap. Texts and legend are those of `left`; rows of `right` follow its
// rows.
Scene side_by_side(const Scene& left, const Scene& right);

// Returns the scene moved and scaled to an extent of 1 around the origin, for displays that compute in float32. Points,
// radius and markers change.
Scene centred(const Scene& scene);

ColouredMesh mesh_of_balls(const Balls& balls, int refinements);
// Creates discs of `corners` corners across `normals`, double [n, 3] of any length. A point without a direction gets
// none.
ColouredMesh mesh_of_discs(const Balls& discs, const at::Tensor& normals, int corners);
// Creates tubes of the given radius along the edges, which are rows of points, `shift` beside the line between them.
// Both are multiplied by widths [E], if defined.
ColouredMesh mesh_of_edges(const at::Tensor& points, const at::Tensor& edges, double radius, const Colour& colour,
                           double shift = 0.0, const at::Tensor& widths = {});
// Creates a tube for every line of an edge: 1, 2 or 3 equal ones, or a full and a thin one for 4 (an aromatic bond).
std::vector<ColouredMesh> meshes_of_bonds(const at::Tensor& points, const at::Tensor& edges, const at::Tensor& lines,
                                          double radius, const Colour& colour, const at::Tensor& widths = {});
// Concatenates meshes; returns undefined tensors for an empty list.
ColouredMesh joined(const std::vector<ColouredMesh>& meshes);

// Subsamples at most `max_rows` points, one per cell of a grid, to draw a large cloud while it moves. Returns int64
// rows [m], ascending; all rows if n <= max_rows.
at::Tensor thinned_rows(const at::Tensor& points, int64_t max_rows);

}  // namespace geosft::view
