// SPDX-License-Identifier: Apache-2.0
// Reads shape files of any supported format.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/file_shape.h"
#include "data/points/shape.h"

namespace geosft {

// Returns whether the name ends in one of shape_extensions(), case-insensitively, possibly with .gz after it.
bool has_shape_extension(const std::filesystem::path& file);
// Removes and returns the .bin files that lie beside .gltf files among `files`: they are buffers, not laser scans.
std::vector<std::filesystem::path> take_gltf_buffers(std::vector<std::filesystem::path>& files);
// Returns ".ply, .obj, .off, .stl, … or .csv": the extensions of all formats, for messages.
std::string shape_extensions();

struct ShapeReadOptions {
  // Names of the columns of tables (text, NumPy), such as "x,y,z,r,g,b"; empty: they are found by header and values.
  std::string columns = {};
  bool drop_invalid = false;  // drop the points of clouds without finite coordinates; otherwise they are an error
};

// Parses `bytes`, which may be compressed by gzip, in the format given by the extension of `file`. Throws DataError.
// For a format that is not read but known, it names a program that converts it.
FileShape parse_shape(std::string_view bytes, const std::string& file, const ShapeReadOptions& options = {});

// Samples `points` points with face normals uniformly by area from the surface of a mesh, using `seed`. Returns a cloud
// unchanged, with its normals. Coordinates far from the origin get an offset (set_points). `file` is for messages;
// label and name are left empty. Throws DataError for a mesh without area.
Shape to_cloud(const FileShape& shape, int64_t points, uint64_t seed, const std::string& file);

}  // namespace geosft
