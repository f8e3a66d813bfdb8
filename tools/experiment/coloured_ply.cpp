// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/coloured_ply.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "data/atomic_file.h"
#include "data/formats/shape_file.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is written as memory holds the numbers");

int64_t rows_of(const at::Tensor& rows) {
  return rows.defined() ? rows.size(0) : 0;
}

bool are_whole(const at::Tensor& values) {
  return at::isIntegralType(values.scalar_type(), /*includeBool=*/true);
}

at::ScalarType stored_type(const at::Tensor& points) {
  return points.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

std::string ply_header(const ColouredPly& content) {
  std::string text =
      "ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(content.points.size(0)) + "\n";
  const std::string type = stored_type(content.points) == at::kDouble ? "double" : "float";
  for (const char* axis : {"x", "y", "z"}) text.append("property ").append(type).append(" ").append(axis).append("\n");
  if (content.normals.defined()) text += "property float nx\nproperty float ny\nproperty float nz\n";
  for (const char* channel : {"red", "green", "blue"}) text += std::string("property uchar ") + channel + "\n";
  if (content.values.defined()) {
    text += std::string("property ") + (are_whole(content.values) ? "int " : "float ") + content.value_name + "\n";
  }
  if (const int64_t faces = rows_of(content.faces); faces > 0) {
    text += "element face " + std::to_string(faces) + "\nproperty list uchar int vertex_indices\n";
  }
  if (const int64_t edges = rows_of(content.edges); edges > 0) {
    text += "element edge " + std::to_string(edges) + "\nproperty int vertex1\nproperty int vertex2\n";
  }
  return text + "end_header\n";
}

// Interleaves the rows of contiguous tensors as bytes.
std::string interleaved(const std::vector<at::Tensor>& columns) {
  const auto rows = static_cast<size_t>(columns.front().size(0));
  size_t width = 0;
  for (const at::Tensor& column : columns) width += column.nbytes() / std::max<size_t>(rows, 1);
  std::string bytes(rows * width, '\0');
  size_t offset = 0;
  for (const at::Tensor& column : columns) {
    const size_t size = column.nbytes() / std::max<size_t>(rows, 1);
    const char* from = static_cast<const char*>(column.const_data_ptr());
    for (size_t row = 0; row < rows; ++row) std::memcpy(&bytes[row * width + offset], from + row * size, size);
    offset += size;
  }
  return bytes;
}

std::string vertex_rows(const ColouredPly& content) {
  std::vector<at::Tensor> columns = {content.points.to(stored_type(content.points)).contiguous()};
  if (content.normals.defined()) columns.push_back(content.normals.to(at::kFloat).contiguous());
  columns.push_back((255.0 * content.colours.clamp(0, 1)).round().to(at::kByte).contiguous());
  if (content.values.defined()) {
    columns.push_back(content.values.to(are_whole(content.values) ? at::kInt : at::kFloat).contiguous());
  }
  return interleaved(columns);
}

void check_content(const ColouredPly& content) {
  const at::IntArrayRef sizes = content.points.sizes();
  TORCH_CHECK(sizes.size() == 2 && sizes[1] == 3, "points: expected [n, 3], found ", sizes);
  TORCH_CHECK(content.colours.sizes() == sizes, "colours: expected ", sizes, ", found ", content.colours.sizes());
  TORCH_CHECK(!content.normals.defined() || content.normals.sizes() == sizes, "normals: expected ", sizes, ", found ",
              content.normals.sizes());
  TORCH_CHECK(!content.values.defined() || content.values.sizes() == at::IntArrayRef{sizes[0]}, "values: expected [",
              sizes[0], "], found ", content.values.sizes());
}

}  // namespace

void write_coloured_ply(const std::filesystem::path& file, const ColouredPly& content) {
  check_content(content);
  std::string bytes = ply_header(content) + vertex_rows(content);
  if (const int64_t faces = rows_of(content.faces); faces > 0) {
    bytes += interleaved({at::full({faces}, 3, at::kByte), content.faces.to(at::kInt).contiguous()});
  }
  if (rows_of(content.edges) > 0) bytes += interleaved({content.edges.to(at::kInt).contiguous()});
  write_file_atomically(file, bytes);
}

std::string ply_name_error(const std::string& name) {
  const std::filesystem::path file(name);
  if (!has_shape_extension(file) || lower_case(file.extension().string()) == ".ply") return "";
  return "expected a name that ends in .ply, found '" + name + "'";
}

}  // namespace geosft
