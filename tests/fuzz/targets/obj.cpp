// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration obj({"obj", [](const std::string& input) { to_cloud(read_obj(input, "input"), 8, 1, "input"); },
                        [] {
                          return Inputs{
                              "# Blender\nmtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1/1/1 2//1 3/1\n",
                              test::tetrahedron_obj, "v 0 0 0\nv 1e0 0 0\nv 0 1 -1.5\nf -3 \\\n -2 -1\nl 1 2\n"};
                        }});

}  // namespace
}  // namespace geosft::fuzz
