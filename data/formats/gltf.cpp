// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <tiny_gltf.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "data/data_error.h"
#include "data/formats/binary.h"
#include "data/formats/compression.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

// The library parses nested values by recursion.
constexpr int max_gltf_nesting = 64;

// Throws DataError for JSON whose brackets are nested more deeply.
void check_nesting(std::string_view json, const std::string& file) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') ++i;
    if (in_text) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > max_gltf_nesting) throw DataError(file, "JSON of glTF", "brackets nested too deeply");
  }
}

// Files beside the one that is read.
struct GltfFolder {
  std::filesystem::path folder, file;
  std::filesystem::path find(const std::string& name) const { return safe_join(folder, name, file); }
};

bool is_gltf_picture(const std::string& name) {
  const std::string extension = lower_case(std::filesystem::path(name).extension().string());
  constexpr std::array<std::string_view, 6> pictures = {".png", ".jpg", ".jpeg", ".webp", ".ktx2", ".dds"};
  return std::find(pictures.begin(), pictures.end(), extension) != pictures.end();
}

bool gltf_file_exists(const std::string& name, void* folder) {
  try {
    return !is_gltf_picture(name) && path_exists(static_cast<const GltfFolder*>(folder)->find(name));
  } catch (const DataError&) {
    return false;  // a name that leads out of the folder
  }
}

std::string gltf_file_name(const std::string& name, void*) {
  return name;
}

bool read_gltf_buffer(std::vector<unsigned char>* bytes, std::string* error, const std::string& name, void* folder) {
  try {
    const std::string content = read_file(static_cast<const GltfFolder*>(folder)->find(name));
    bytes->assign(content.begin(), content.end());
    return true;
  } catch (const DataError& unreadable) {
    *error = unreadable.what();
    return false;
  }
}

bool ignore_picture(tinygltf::Image*, int, std::string*, std::string*, int, int, const unsigned char*, int, void*) {
  return true;
}

tinygltf::Model load_gltf(std::string_view bytes, const std::string& file) {
  if (bytes.size() > std::numeric_limits<unsigned int>::max()) {
    throw DataError(file, "less than 4 GiB of glTF", std::to_string(bytes.size()) + " bytes");
  }
  constexpr size_t glb_json = 20;  // bytes of the headers of a GLB file and of its first part
  const bool is_binary = bytes.starts_with("glTF");
  if (is_binary && bytes.size() < glb_json) throw DataError(file, "20 bytes or more", std::to_string(bytes.size()));
  check_nesting(is_binary ? bytes.substr(glb_json, load_number<uint32_t>(bytes, 12)) : bytes, file);
  GltfFolder folder{std::filesystem::path(file).parent_path(), file};
  tinygltf::TinyGLTF loader;
  loader.SetImageLoader(ignore_picture, nullptr);
  loader.SetFsCallbacks({gltf_file_exists, gltf_file_name, read_gltf_buffer, nullptr, &folder});
  tinygltf::Model model;
  std::string error, warning;
  const auto size = static_cast<unsigned int>(bytes.size());
  bool loaded = false;
  try {
    loaded = is_binary ? loader.LoadBinaryFromMemory(&model, &error, &warning,
                                                     reinterpret_cast<const unsigned char*>(bytes.data()), size, "")
                       : loader.LoadASCIIFromString(&model, &error, &warning, bytes.data(), size, "");
  } catch (const std::exception& exception) {
    throw DataError(file, "a glTF 2.0 file", exception.what());
  }
  if (loaded) return model;
  constexpr size_t longest = 200;
  const std::string text(trimmed(std::string_view(error).substr(0, longest)));
  throw DataError(file, "a glTF 2.0 file", text.empty() ? "a broken one" : text);
}

// The numbers of an accessor, checked to lie in its buffer.
class GltfNumbers {
 public:
  GltfNumbers(const tinygltf::Model& model, int accessor, const std::string& file) {
    const tinygltf::Accessor& about = element(model.accessors, accessor, "accessor", file);
    if (about.sparse.isSparse) throw DataError(file, "accessors that are not sparse", "a sparse one");
    const tinygltf::BufferView& view = element(model.bufferViews, about.bufferView, "bufferView", file);
    const std::vector<unsigned char>& data = element(model.buffers, view.buffer, "buffer", file).data;
    type_ = about.componentType;
    normalized_ = about.normalized;
    const int components = tinygltf::GetNumComponentsInType(static_cast<uint32_t>(about.type));
    const int component = tinygltf::GetComponentSizeInBytes(static_cast<uint32_t>(type_));
    if (components < 1 || component < 1) throw DataError(file, "a type of accessors", "another");
    components_ = static_cast<size_t>(components);
    size_ = static_cast<size_t>(component);
    count_ = about.count;
    stride_ = view.byteStride == 0 ? components_ * size_ : view.byteStride;
    const bool in_buffer = view.byteOffset <= data.size() && view.byteLength <= data.size() - view.byteOffset;
    const size_t length = in_buffer ? view.byteLength : 0, item = components_ * size_;
    const bool in_view = count_ == 0 || (about.byteOffset <= length && item <= length - about.byteOffset &&
                                         count_ - 1 <= (length - about.byteOffset - item) / stride_);
    if (!in_buffer || !in_view) {
      throw DataError(file, "accessor " + std::to_string(accessor) + " within its buffer",
                      std::to_string(count_) + " elements in " + std::to_string(data.size()) + " bytes");
    }
    bytes_ = std::string_view(reinterpret_cast<const char*>(data.data()), data.size()).substr(view.byteOffset);
    bytes_.remove_prefix(std::min(about.byteOffset, bytes_.size()));
  }

  size_t count() const { return count_; }
  size_t components() const { return components_; }
  bool is_index() const {
    return components_ == 1 &&
           (type_ == TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE || type_ == TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT ||
            type_ == TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT);
  }
  double at(size_t row, size_t column) const {
    const size_t offset = row * stride_ + column * size_;
    switch (type_) {
      case TINYGLTF_COMPONENT_TYPE_BYTE:
        return scaled(load_number<int8_t>(bytes_, offset));
      case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
        return scaled(load_number<uint8_t>(bytes_, offset));
      case TINYGLTF_COMPONENT_TYPE_SHORT:
        return scaled(load_number<int16_t>(bytes_, offset));
      case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
        return scaled(load_number<uint16_t>(bytes_, offset));
      case TINYGLTF_COMPONENT_TYPE_INT:
        return load_number<int32_t>(bytes_, offset);
      case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
        return load_number<uint32_t>(bytes_, offset);
      case TINYGLTF_COMPONENT_TYPE_FLOAT:
        return load_number<float>(bytes_, offset);
      default:
        return load_number<double>(bytes_, offset);
    }
  }
  std::array<double, 3> vector(size_t row) const { return {at(row, 0), at(row, 1), at(row, 2)}; }

  // Returns list[index]. Throws DataError if there is no such element.
  template <class Element>
  static const Element& element(const std::vector<Element>& list, int index, const char* what,
                                const std::string& file) {
    if (index >= 0 && static_cast<size_t>(index) < list.size()) return list[static_cast<size_t>(index)];
    throw DataError(file, std::string("a ") + what + " below " + std::to_string(list.size()), std::to_string(index));
  }

 private:
  template <class Number>
  double scaled(Number value) const {
    if (!normalized_) return value;
    return std::max(static_cast<double>(value) / std::numeric_limits<Number>::max(), -1.0);
  }

  std::string_view bytes_;
  int type_ = 0;
  bool normalized_ = false;
  size_t components_ = 0, size_ = 0, count_ = 0, stride_ = 0;
};

using GltfVector = std::array<double, 3>;

GltfVector cross(const GltfVector& a, const GltfVector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// An affine transform: the images of the axes, and that of the origin.
struct GltfTransform {
  std::array<GltfVector, 3> axis = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  GltfVector origin = {0, 0, 0};

  GltfVector direction(const GltfVector& v) const {
    GltfVector sum{};
    for (size_t i = 0; i < 3; ++i) sum[i] = axis[0][i] * v[0] + axis[1][i] * v[1] + axis[2][i] * v[2];
    return sum;
  }
  GltfVector point(const GltfVector& v) const {
    GltfVector sum = direction(v);
    for (size_t i = 0; i < 3; ++i) sum[i] += origin[i];
    return sum;
  }
  GltfTransform operator*(const GltfTransform& inner) const {
    return {{direction(inner.axis[0]), direction(inner.axis[1]), direction(inner.axis[2])}, point(inner.origin)};
  }
  // The transform of normals, up to their length: the matrix of cofactors.
  GltfTransform of_normals() const {
    return {{cross(axis[1], axis[2]), cross(axis[2], axis[0]), cross(axis[0], axis[1])}, {0, 0, 0}};
  }
  bool mirrors() const {
    const GltfVector normal = cross(axis[0], axis[1]);
    return normal[0] * axis[2][0] + normal[1] * axis[2][1] + normal[2] * axis[2][2] < 0;
  }
};

// The translation, rotation by a quaternion, and scale of a node, or its matrix in column-major order.
GltfTransform transform_of(const tinygltf::Node& node) {
  GltfTransform result;
  if (node.matrix.size() == 16) {
    for (size_t i = 0; i < 3; ++i) {
      for (size_t column = 0; column < 3; ++column) result.axis[column][i] = node.matrix[4 * column + i];
      result.origin[i] = node.matrix[12 + i];
    }
    return result;
  }
  if (node.rotation.size() == 4) {
    const double length =
        std::hypot(std::hypot(node.rotation[0], node.rotation[1], node.rotation[2]), node.rotation[3]);
    const double s = length > 0 ? 1 / length : 0;
    const double x = s * node.rotation[0], y = s * node.rotation[1], z = s * node.rotation[2], w = s * node.rotation[3];
    result.axis = {{{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)},
                    {2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)},
                    {2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)}}};
  }
  for (size_t i = 0; i < 3; ++i) {
    if (node.scale.size() == 3) {
      for (double& component : result.axis[i]) component *= node.scale[i];
    }
    if (node.translation.size() == 3) result.origin[i] = node.translation[i];
  }
  return result;
}

class GltfScene {
 public:
  GltfScene(const tinygltf::Model& model, size_t file_size, const std::string& file)
      : model_(model),
        max_vertices_(static_cast<int64_t>(max_unpacked(file_size) / (3 * sizeof(double)))),
        file_(file),
        builder_(file, "face") {}

  FileShape read() {
    for (const std::string& used : model_.extensionsRequired) {
      if (used == "KHR_draco_mesh_compression" || used == "EXT_meshopt_compression" ||
          used == "EXT_mesh_gpu_instancing") {
        throw DataError(file_, "a mesh without " + used, "one with it; `gltf-transform copy` or Blender converts it");
      }
    }
    // Parents come before their children. In a valid file a node has one parent at most.
    std::vector<std::pair<int, GltfTransform>> left;
    for (const int root : roots()) left.emplace_back(root, GltfTransform());
    std::reverse(left.begin(), left.end());
    std::vector<char> seen(model_.nodes.size(), 0);
    while (!left.empty()) {
      const auto [index, above] = left.back();
      left.pop_back();
      const tinygltf::Node& node = GltfNumbers::element(model_.nodes, index, "node", file_);
      if (std::exchange(seen[static_cast<size_t>(index)], 1) != 0) {
        throw DataError(file_, "a tree of nodes", "node " + std::to_string(index) + " with two parents");
      }
      const GltfTransform transform = above * transform_of(node);
      if (node.mesh >= 0) add_mesh(GltfNumbers::element(model_.meshes, node.mesh, "mesh", file_), transform);
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
        left.emplace_back(*child, transform);
      }
    }
    const bool has_normals = static_cast<int64_t>(directions_.size()) == builder_.vertex_count();
    if (builder_.triangle_count() == 0 && has_normals) {
      for (const GltfVector& normal : directions_) builder_.add_normal(normal[0], normal[1], normal[2]);
    }
    if (lines_ > 0) builder_.add_warning(std::to_string(lines_) + " primitives of lines are ignored");
    return builder_.finish();
  }

 private:
  // Returns the roots of the default scene, of the first one, or, without scenes, of all nodes.
  std::vector<int> roots() const {
    if (!model_.scenes.empty()) {
      return GltfNumbers::element(model_.scenes, std::max(model_.defaultScene, 0), "scene", file_).nodes;
    }
    std::vector<char> is_child(model_.nodes.size(), 0);
    for (const tinygltf::Node& node : model_.nodes) {
      for (const int child : node.children) {
        GltfNumbers::element(model_.nodes, child, "node", file_);
        is_child[static_cast<size_t>(child)] = 1;
      }
    }
    std::vector<int> found;
    for (size_t i = 0; i < is_child.size(); ++i) {
      if (!is_child[i]) found.push_back(static_cast<int>(i));
    }
    return found;
  }

  void add_mesh(const tinygltf::Mesh& mesh, const GltfTransform& transform) {
    for (const tinygltf::Primitive& primitive : mesh.primitives) add_primitive(primitive, transform);
  }

  void add_primitive(const tinygltf::Primitive& primitive, const GltfTransform& transform) {
    const bool are_lines = primitive.mode >= TINYGLTF_MODE_LINE && primitive.mode <= TINYGLTF_MODE_LINE_STRIP;
    const auto position = primitive.attributes.find("POSITION");
    if (are_lines || position == primitive.attributes.end()) {
      lines_ += are_lines ? 1 : 0;
      return;
    }
    const int64_t first = builder_.vertex_count();
    const size_t vertices = add_vertices(position->second, transform);
    if (primitive.mode == TINYGLTF_MODE_POINTS) {
      add_normals(primitive, vertices, transform.of_normals());
    } else {
      add_triangles(primitive, corners_of(primitive, vertices), first, transform.mirrors());
    }
  }

  size_t add_vertices(int accessor, const GltfTransform& transform) {
    const GltfNumbers positions(model_, accessor, file_);
    if (positions.components() != 3) throw DataError(file_, "positions of three numbers", "others");
    if (static_cast<int64_t>(positions.count()) > max_vertices_ - builder_.vertex_count()) {
      throw DataError(file_, "at most " + std::to_string(max_vertices_) + " vertices in all nodes", "more");
    }
    for (size_t i = 0; i < positions.count(); ++i) {
      const GltfVector point = transform.point(positions.vector(i));
      builder_.add_vertex(point[0], point[1], point[2]);
    }
    return positions.count();
  }

  void add_normals(const tinygltf::Primitive& primitive, size_t vertices, const GltfTransform& transform) {
    const auto normal = primitive.attributes.find("NORMAL");
    if (normal == primitive.attributes.end()) return;
    const GltfNumbers normals(model_, normal->second, file_);
    if (normals.components() != 3 || normals.count() != vertices) {
      throw DataError(file_, "a normal for each point", std::to_string(normals.count()));
    }
    for (size_t i = 0; i < vertices; ++i) directions_.push_back(transform.direction(normals.vector(i)));
  }

  std::vector<int64_t> corners_of(const tinygltf::Primitive& primitive, size_t vertices) const {
    std::vector<int64_t> corners;
    if (primitive.indices < 0) {
      for (size_t i = 0; i < vertices; ++i) corners.push_back(static_cast<int64_t>(i));
      return corners;
    }
    const GltfNumbers indices(model_, primitive.indices, file_);
    if (!indices.is_index()) throw DataError(file_, "indices of unsigned integers", "others");
    for (size_t i = 0; i < indices.count(); ++i) {
      const auto corner = static_cast<int64_t>(indices.at(i, 0));
      if (corner >= static_cast<int64_t>(vertices)) {
        throw DataError(file_, "corners among the " + std::to_string(vertices) + " vertices of a primitive",
                        "corner number " + std::to_string(corner));
      }
      corners.push_back(corner);
    }
    return corners;
  }

  // A transform that mirrors reverses the orientation.
  void add_triangles(const tinygltf::Primitive& primitive, const std::vector<int64_t>& corners, int64_t first,
                     bool mirrors) {
    const bool is_list = primitive.mode == TINYGLTF_MODE_TRIANGLES,
               is_fan = primitive.mode == TINYGLTF_MODE_TRIANGLE_FAN;
    if (!is_list && !is_fan && primitive.mode != TINYGLTF_MODE_TRIANGLE_STRIP) {
      throw DataError(file_, "a mode from 0 to 6", std::to_string(primitive.mode));
    }
    for (size_t i = 2; i < corners.size(); i += is_list ? 3 : 1) {
      int64_t a = corners[is_fan ? 0 : i - 2], b = corners[i - 1];
      const int64_t c = corners[i];
      if (!is_list && (a == b || b == c || a == c)) continue;  // joins two strips
      const bool is_odd = !is_list && !is_fan && i % 2 == 1;
      if (is_odd != mirrors) std::swap(a, b);
      builder_.add_polygon({first + a, first + b, first + c}, builder_.triangle_count() + 1);
    }
  }

  const tinygltf::Model& model_;
  int64_t max_vertices_;
  const std::string& file_;
  FileShapeBuilder builder_;
  std::vector<GltfVector> directions_;
  int64_t lines_ = 0;
};

}  // namespace

FileShape read_gltf(std::string_view bytes, const std::string& file) {
  const tinygltf::Model model = load_gltf(bytes, file);
  size_t size = bytes.size();
  for (const tinygltf::Buffer& buffer : model.buffers) size += buffer.data.size();
  return GltfScene(model, size, file).read();
}

}  // namespace geosft
