// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

std::string binary_stl() {
  std::string bytes(80, ' ');
  bytes += test::raw(uint32_t{1});
  for (int i = 0; i < 12; ++i) bytes += test::raw(float(i == 3 || i == 7));
  return bytes + test::raw(uint16_t{0});
}

const Registration stl({"stl", [](const std::string& input) { to_cloud(read_stl(input, "input"), 8, 1, "input"); },
                        [] {
                          return Inputs{
                              "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                              "vertex 0 1 0\nendloop\nendfacet\nendsolid a\n",
                              binary_stl()};
                        }});

}  // namespace
}  // namespace geosft::fuzz
