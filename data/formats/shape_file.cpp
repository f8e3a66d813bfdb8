// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "data/formats/compression.h"
#include "data/formats/file_content.h"
#include "data/formats/text_lines.h"
#include "data/seeds.h"
#include "geometry/surface_sampling.h"

namespace geosft {
namespace {

struct ShapeFormat {
  std::vector<std::string> extensions;  // lower case
  FileShape (*read)(std::string_view bytes, const std::string& file);
  bool any_bytes = false;  // whether a file may begin with the bytes that other formats begin with
  // In place of `read`, of formats whose columns can be named (ShapeReadOptions).
  FileShape (*read_table)(std::string_view bytes, const std::string& file, const std::string& columns) = nullptr;
};

const std::vector<ShapeFormat>& shape_formats() {
  static const std::vector<ShapeFormat> formats = {{{".ply"}, read_ply},
                                                   {{".obj"}, read_obj},
                                                   {{".off"}, read_off},
                                                   {{".stl"}, read_stl},
                                                   {{".pcd"}, read_pcd},
                                                   {{".xyz", ".txt", ".asc", ".pts", ".csv"}, nullptr, false, read_xyz},
                                                   {{".las"}, read_las},
                                                   {{".npy"}, nullptr, false, read_npy},
                                                   {{".npz"}, nullptr, true, read_npz},
                                                   {{".bin"}, read_kitti_bin, true},
                                                   {{".gltf", ".glb"}, read_gltf}};
  return formats;
}

// Formats that are known, but not read.
struct ConvertedFormat {
  const char* extension;
  const char* name;
  const char* hint;
};
constexpr std::array<ConvertedFormat, 2> converted_formats = {
    {{".laz", "a compressed LAS file", laz_converters},
     {".e57", "an E57 file", "`pdal translate IN.e57 OUT.las` or CloudCompare converts it"}}};

// Returns the extension in lower case, without .gz.
std::string extension_of(const std::filesystem::path& file) {
  std::string extension = lower_case(file.extension().string());
  return extension == ".gz" ? lower_case(file.stem().extension().string()) : extension;
}

// Returns nullptr for an unknown format.
const ShapeFormat* find_shape_format(const std::filesystem::path& file) {
  const std::string extension = extension_of(file);
  for (const ShapeFormat& format : shape_formats()) {
    const auto& known = format.extensions;
    if (std::find(known.begin(), known.end(), extension) != known.end()) return &format;
  }
  return nullptr;
}

// Returns nullptr for another format.
const ConvertedFormat* find_converted_format(const std::filesystem::path& file) {
  const std::string extension = extension_of(file);
  for (const ConvertedFormat& known : converted_formats) {
    if (extension == known.extension) return &known;
  }
  return nullptr;
}

[[noreturn]] void refuse_format(const std::string& file) {
  if (const ConvertedFormat* const known = find_converted_format(file)) {
    throw DataError(file, "a file that ends in " + shape_extensions(), std::string(known->name) + "; " + known->hint);
  }
  throw DataError(file, "a file name that ends in " + shape_extensions(), "another");
}

// Throws DataError for the bytes of another format than that of the file's name.
void refuse_other_ending(std::string_view bytes, const ShapeFormat& format, const std::string& file) {
  constexpr std::array<std::pair<std::string_view, const char*>, 6> beginnings = {{{"ply\n", ".ply"},
                                                                                   {"ply\r", ".ply"},
                                                                                   {"# .PCD", ".pcd"},
                                                                                   {"LASF", ".las"},
                                                                                   {"glTF", ".glb"},
                                                                                   {"\x93NUMPY", ".npy"}}};
  for (const auto& [begin, ending] : beginnings) {
    if (!bytes.starts_with(begin) || find_shape_format(std::string("a") + ending) == &format) continue;
    throw DataError(file, "what its name ends with", std::string("a ") + ending + " file: give it this ending");
  }
}

}  // namespace

std::string shape_extensions() {
  std::vector<std::string> all;
  for (const ShapeFormat& format : shape_formats()) {
    all.insert(all.end(), format.extensions.begin(), format.extensions.end());
  }
  std::string text = all.front();
  for (size_t i = 1; i < all.size(); ++i) text += (i + 1 == all.size() ? " or " : ", ") + all[i];
  return text;
}

bool has_converted_extension(const std::filesystem::path& file) {
  return find_converted_format(file) != nullptr;
}

bool has_shape_extension(const std::filesystem::path& file) {
  return find_shape_format(file) != nullptr;
}

bool has_columns(const std::filesystem::path& file) {
  const ShapeFormat* const format = find_shape_format(file);
  return format != nullptr && format->read_table != nullptr;
}

bool can_hold_cloud(const std::filesystem::path& file) {
  const ShapeFormat* const format = find_shape_format(file);
  return format != nullptr && format->read != read_stl;
}

bool can_hold_labels(const std::filesystem::path& file) {
  const ShapeFormat* const format = find_shape_format(file);
  return format != nullptr && (format->read == read_ply || format->read == read_pcd || format->read == read_las ||
                               format->read_table != nullptr);
}

bool is_text_of_words(const std::filesystem::path& file) {
  if (!has_columns(file)) return false;
  std::string head;
  try {
    constexpr size_t enough = size_t{1} << 16;
    head = gz_file_head(file, enough);
  } catch (const DataError&) {
    return false;
  }
  if (head.find('\0') != std::string::npos) return false;  // no text
  std::istringstream lines(head);
  bool any = false;
  for (std::string line; std::getline(lines, line);) {
    std::replace_if(
        line.begin(), line.end(), [](char letter) { return letter == ',' || letter == ';'; }, ' ');
    any = any || line.find_first_not_of(" \t\r") != std::string::npos;
    std::istringstream row(line);
    std::string x, y, z;
    if (row >> x >> y >> z && parse_number(x) && parse_number(y) && parse_number(z)) return false;
  }
  return any;
}

std::vector<std::filesystem::path> take_companions(std::vector<std::filesystem::path>& files) {
  constexpr std::string_view labels = "_labels.txt";
  std::set<std::filesystem::path> gltf_folders, shapes;  // shapes: without extension
  for (const auto& file : files) {
    if (lower_case(file.extension().string()) == ".gltf") gltf_folders.insert(file.parent_path());
    if (!file.string().ends_with(labels)) shapes.insert(std::filesystem::path(file).replace_extension());
  }
  const auto is_companion = [&](const std::filesystem::path& file) {
    const std::string name = file.string();
    if (name.ends_with(labels)) return shapes.contains(name.substr(0, name.size() - labels.size()));
    return lower_case(file.extension().string()) == ".bin" && gltf_folders.contains(file.parent_path());
  };
  const auto companions = std::stable_partition(files.begin(), files.end(), std::not_fn(is_companion));
  std::vector<std::filesystem::path> taken(companions, files.end());
  files.erase(companions, files.end());
  return taken;
}

FileShape parse_shape(std::string_view bytes, const std::string& file, const ShapeReadOptions& options) {
  const ShapeFormat* format = find_shape_format(file);
  if (format == nullptr) refuse_format(file);
  if (bytes.empty()) throw DataError(file, "a shape", "an empty file");
  std::string unpacked;
  const bool named_gz = lower_case(std::filesystem::path(file).extension().string()) == ".gz";
  if (bytes.starts_with("\x1f\x8b\x08") && (named_gz || !format->any_bytes)) {
    unpacked = gunzipped(std::string(bytes), file);
    bytes = unpacked;
  }
  const std::string other = format->any_bytes ? foreign_text(bytes) : foreign_content(bytes);
  if (!other.empty()) throw DataError(file, "a shape", other);
  if (!format->any_bytes) refuse_other_ending(bytes, *format, file);
  FileShape shape =
      format->read_table != nullptr ? format->read_table(bytes, file, options.columns) : format->read(bytes, file);
  if (options.drop_invalid) shape.drop_invalid(file);
  shape.require_finite(FileShape::drop_invalid_advice);
  return shape;
}

Shape to_cloud(const FileShape& shape, int64_t points, uint64_t seed, const std::string& file) {
  shape.require_finite();
  Shape cloud;
  if (!shape.is_mesh()) {
    set_points(cloud, shape.mesh.vertices);
    cloud.normals = shape.normals;
    return cloud;
  }
  const double area = surface_area(shape.mesh);
  if (!std::isfinite(area)) throw DataError(file, "a mesh whose area can be computed", "vertices too far apart");
  if (area == 0) throw DataError(file, "a mesh with an area", "all faces of area 0");
  cloud.offset = offset_from_origin(shape.mesh.vertices);
  const at::Tensor& vertices = shape.mesh.vertices;
  const Mesh near_origin{cloud.offset.defined() ? vertices - cloud.offset : vertices, shape.mesh.faces};
  const SurfaceSample sample = sample_surface(near_origin, points, make_generator(seed));
  cloud.points = sample.points;
  cloud.normals = sample.normals;
  cloud.from_mesh = true;
  return cloud;
}

}  // namespace geosft
