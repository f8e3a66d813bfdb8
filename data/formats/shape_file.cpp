// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "data/formats/obj.h"
#include "data/formats/off.h"
#include "data/formats/pcd.h"
#include "data/formats/ply.h"
#include "data/formats/stl.h"
#include "data/formats/xyz.h"
#include "data/seeds.h"
#include "geometry/surface_sampling.h"

namespace geosft {
namespace {

using Reader = FileShape (*)(std::string_view, const std::string&);

Reader find_reader(const std::filesystem::path& file) {
  static const std::map<std::string, Reader> readers = {{".obj", read_obj}, {".off", read_off}, {".pcd", read_pcd},
                                                        {".ply", read_ply}, {".stl", read_stl}, {".txt", read_xyz},
                                                        {".xyz", read_xyz}};
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const auto found = readers.find(extension);
  return found == readers.end() ? nullptr : found->second;
}

}  // namespace

const char* const shape_extensions = ".ply, .obj, .off, .stl, .pcd, .xyz or .txt";

bool has_shape_extension(const std::filesystem::path& file) {
  return find_reader(file) != nullptr;
}

FileShape parse_shape(std::string_view bytes, const std::string& file) {
  const Reader reader = find_reader(file);
  if (reader == nullptr) throw DataError(file, std::string("a file name that ends in ") + shape_extensions, "another");
  if (bytes.empty()) throw DataError(file, "a shape", "an empty file");
  return reader(bytes, file);
}

Shape to_cloud(const FileShape& shape, int64_t points, uint64_t seed, const std::string& file) {
  Shape cloud;
  if (!shape.is_mesh()) {
    cloud.points = shape.mesh.vertices.to(at::kFloat);
    cloud.normals = shape.normals;
    return cloud;
  }
  const double area = surface_area(shape.mesh);
  if (!std::isfinite(area)) throw DataError(file, "a mesh whose area can be computed", "vertices too far apart");
  if (area == 0) throw DataError(file, "a mesh with an area", "all faces of area 0");
  const SurfaceSample sample = sample_surface(shape.mesh, points, make_generator(seed));
  cloud.points = sample.points;
  cloud.normals = sample.normals;
  return cloud;
}

}  // namespace geosft
