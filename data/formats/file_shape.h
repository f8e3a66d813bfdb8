// SPDX-License-Identifier: Apache-2.0
// Collects and checks the mesh or cloud that a file of any shape format holds.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "geometry/mesh.h"

namespace geosft {

struct FileShape {
  Mesh mesh;           // a cloud has no faces (int64 [0, 3])
  at::Tensor normals;  // float32 [V, 3] of the vertices, of unit length (or 0), or undefined
  bool is_mesh() const { return mesh.faces.size(0) > 0; }
};

// Collects what a reader finds. Nothing is allocated ahead, so a count in a header costs nothing until data follow it.
class FileShapeBuilder {
 public:
  // `file` is for messages. `place` below is the line number in a text file, or the number of the face or vertex in a
  // binary one, called `place_name` in messages.
  FileShapeBuilder(std::string file, std::string place_name)
      : file_(std::move(file)), place_name_(std::move(place_name)) {}

  void add_vertex(double x, double y, double z) { vertices_.insert(vertices_.end(), {x, y, z}); }
  // Of the vertex added last.
  void add_normal(double x, double y, double z) { normals_.insert(normals_.end(), {x, y, z}); }
  // Corners count from 0; a polygon becomes a fan of triangles. DataError with fewer than 3 corners.
  void add_polygon(const std::vector<int64_t>& corners, int64_t place);
  int64_t vertex_count() const { return static_cast<int64_t>(vertices_.size() / 3); }
  int64_t triangle_count() const { return static_cast<int64_t>(faces_.size() / 3); }

  // DataError unless there is a vertex, every coordinate is a finite float32, every corner is a vertex, and either all
  // vertices have normals or none has. With `needs_faces` a file without faces is an error, too.
  FileShape finish(bool needs_faces);

 private:
  void check_corners() const;
  at::Tensor vertex_tensor() const;
  at::Tensor normal_tensor() const;

  std::string file_, place_name_;
  std::vector<double> vertices_, normals_;
  std::vector<int64_t> faces_, places_;
};

}  // namespace geosft
