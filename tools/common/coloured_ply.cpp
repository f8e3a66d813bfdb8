// SPDX-License-Identifier: Apache-2.0
#include "tools/common/coloured_ply.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "data/atomic_file.h"

namespace geosft {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is written as memory holds the numbers");

// `value`: the declaration of the property, or empty.
std::string ply_header(int64_t points, const std::string& value, int64_t edges) {
  std::string text = "ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(points) + "\n";
  for (const char* axis : {"x", "y", "z"}) text += std::string("property float ") + axis + "\n";
  for (const char* channel : {"red", "green", "blue"}) text += std::string("property uchar ") + channel + "\n";
  if (!value.empty()) text += "property " + value + "\n";
  if (edges > 0) {
    text += "element edge " + std::to_string(edges) + "\nproperty int vertex1\nproperty int vertex2\n";
  }
  return text + "end_header\n";
}

// The rows of some contiguous tensors beside each other, as bytes.
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

}  // namespace

void write_coloured_ply(const std::filesystem::path& file, const at::Tensor& points, const at::Tensor& colours,
                        const at::Tensor& values, const at::Tensor& edges, const std::string& value_name) {
  TORCH_CHECK(points.dim() == 2 && points.size(1) == 3, "points: expected [n, 3], found ", points.sizes());
  TORCH_CHECK(colours.sizes() == points.sizes(), "colours: expected ", points.sizes(), ", found ", colours.sizes());
  std::vector<at::Tensor> columns = {points.to(at::kFloat).contiguous(),
                                     (255.0 * colours.clamp(0, 1)).round().to(at::kByte).contiguous()};
  std::string value;
  if (values.defined()) {
    TORCH_CHECK(values.dim() == 1 && values.size(0) == points.size(0), "values: expected [", points.size(0),
                "], found ", values.sizes());
    const bool whole = at::isIntegralType(values.scalar_type(), /*includeBool=*/true);
    columns.push_back(values.to(whole ? at::kInt : at::kFloat).contiguous());
    value = (whole ? "int " : "float ") + value_name;
  }
  const int64_t lines = edges.defined() ? edges.size(0) : 0;
  std::string bytes = ply_header(points.size(0), value, lines) + interleaved(columns);
  if (lines > 0) bytes += interleaved({edges.to(at::kInt).contiguous()});
  write_file_atomically(file, bytes);
}

}  // namespace geosft
