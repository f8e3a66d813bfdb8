// SPDX-License-Identifier: Apache-2.0
// Collects and checks the mesh or cloud of a file in any shape format.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/mesh.h"

namespace geosft {

struct FileShape {
  Mesh mesh;           // a cloud has no faces (int64 [0, 3])
  at::Tensor normals;  // float32 [V, 3], vertex normals of unit length (0: missing), or undefined
  // float64 if the file declares it or a float32 would not tell the vertices apart, else float32.
  at::ScalarType precision = at::kFloat;
  std::vector<std::string> warnings = {};  // what was left out or assumed, a phrase for each
  // Names the first point of a cloud whose coordinates are not finite, with its place; empty: all are finite.
  std::string invalid_place = {}, invalid = {};
  // float64 [V]: the values of the property or column of labels (data/formats/point_labels.h), whatever they are, of a
  // table NaN where there is none, and infinity for a word; undefined if there is no such property, and of formats
  // whose labels are not read.
  at::Tensor labels = {};
  std::vector<std::string> names = {};  // of the properties or columns of the points, of formats whose labels are read
  bool is_mesh() const { return mesh.faces.size(0) > 0; }
  // Follows, as the advice of require_finite, what readers expect that can drop points.
  static constexpr const char* drop_invalid_advice = " (or --drop-invalid; in C++ and Python, the option drop_invalid)";
  // Throws DataError for a point without finite coordinates; `advice` follows what is expected.
  void require_finite(const std::string& advice = {}) const;
  // Drops the points without finite coordinates, with a warning. Returns the rows that stay, int64, or an undefined
  // tensor if all do. Throws DataError, naming `file`, if none is left.
  at::Tensor drop_invalid(const std::string& file);
};

// Collects the vertices and faces that a reader finds. Memory is not allocated from counts in a header, only as data
// follow.
class FileShapeBuilder {
 public:
  // `file` is for messages. `place` below is the line number in a text file or the face or vertex number in a binary
  // file; messages call it `place_name`. `first_corner` is the number of the first vertex in the file.
  FileShapeBuilder(std::string file, std::string place_name, int64_t first_corner = 0)
      : file_(std::move(file)), place_name_(std::move(place_name)), first_corner_(first_corner) {}

  // `place` is the line of the vertex, for messages about its coordinates.
  void add_vertex(double x, double y, double z, int64_t place = 0);
  // Called by readers of files that declare coordinates of more than 32 bits.
  void declare_double() { declares_double_ = true; }
  // Adds the normal of the last vertex.
  void add_normal(double x, double y, double z) { normals_.insert(normals_.end(), {x, y, z}); }
  // Adds the label of the last vertex.
  void add_label(double value) { labels_.push_back(value); }
  // `names`: those of the properties or columns of the points.
  void set_names(const std::vector<std::string_view>& names) { names_.assign(names.begin(), names.end()); }
  // Adds a polygon, which finish() splits into triangles (triangulate_polygon): its vertices may follow later. Corner
  // indices count from 0. One with fewer than 3 corners is left out, with a warning.
  void add_polygon(const std::vector<int64_t>& corners, int64_t place);
  // Adds the triangles of a strip, all of one orientation; -1 begins another strip.
  void add_strip(const std::vector<int64_t>& corners, int64_t place);
  const std::string& file() const { return file_; }
  void add_warning(const std::string& warning) { warnings_.push_back(warning); }
  int64_t vertex_count() const { return static_cast<int64_t>(vertices_.size() / 3); }
  int64_t triangle_count() const { return static_cast<int64_t>(corners_.size() - 2 * places_.size()); }

  // Throws DataError unless there is a vertex, every corner is a vertex with finite float32 coordinates, and all or no
  // points of a cloud have normals. A cloud may have points and normals that are not finite (holes of organised
  // clouds): the former are left to the caller, the latter become 0, and a cloud without any other has none. Of a mesh,
  // a vertex that no face uses may have any coordinates: those that are not finite become those of the first corner,
  // and normals that do not fit are dropped.
  FileShape finish();

 private:
  void check_corners() const;
  std::string place_of_first(const at::Tensor& bad) const;
  at::Tensor face_tensor() const;
  at::Tensor vertex_tensor();
  at::Tensor normal_tensor() const;

  std::string file_, place_name_;
  int64_t first_corner_;
  bool declares_double_ = false;
  std::vector<double> vertices_, normals_, labels_;
  std::vector<std::string> names_;
  std::vector<int64_t> corners_, ends_, places_;  // of the polygons: all corners, where theirs end, and their places
  std::map<int64_t, int64_t> places_of_non_finite_;
  int64_t without_area_ = 0;  // polygons of fewer than 3 corners
  std::vector<std::string> warnings_;
};

}  // namespace geosft
