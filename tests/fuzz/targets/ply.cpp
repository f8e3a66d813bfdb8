// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const std::string text_ply =
    "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
    "z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";

const std::string strip_ply =
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n8 0 1 2 3 -1 2 "
    "1 0\n";

std::string binary_ply(bool big_endian) {
  std::string bytes = std::string("ply\nformat binary_") + (big_endian ? "big" : "little") + "_endian 1.0\n" +
                      "element vertex 3\nproperty double x\nproperty float y\nproperty short z\nproperty float nx\n"
                      "property float ny\nproperty float nz\nproperty list uint8 uint16 rest\nelement face 1\n"
                      "property list uint int vertex_index\nproperty uchar red\nend_header\n";
  for (int i = 0; i < 3; ++i) {
    bytes +=
        test::raw(double(i), big_endian) + test::raw(float(i == 1), big_endian) + test::raw(int16_t{2}, big_endian);
    for (int axis = 0; axis < 3; ++axis) bytes += test::raw(float(axis == 0), big_endian);
    bytes += test::raw(uint8_t{1}) + test::raw(uint16_t{7}, big_endian);
  }
  bytes += test::raw(uint32_t{3}, big_endian);
  for (const int32_t corner : {0, 1, 2}) bytes += test::raw(corner, big_endian);
  return bytes + test::raw(uint8_t{9});
}

const Registration ply({"ply", [](const std::string& input) { to_cloud(read_ply(input, "input"), 8, 1, "input"); },
                        [] {
                          return Inputs{text_ply, strip_ply, binary_ply(false), binary_ply(true)};
                        }});

}  // namespace
}  // namespace geosft::fuzz
