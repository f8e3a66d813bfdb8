// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration xyz({"xyz", [](const std::string& input) { to_cloud(read_xyz(input, "input"), 8, 1, "input"); },
                        [] {
                          return Inputs{"2\nx;y;z;nx;ny;nz;n\n1,5;2;3;0;0;1;\"a\"\n1;2;3;0;0;1;\n",
                                        "0 0 0 0 0 1 3\n1 2 3 0 1 0 3\n", "0 0 0\n1.5,2,3\n",
                                        "# x y z nx ny nz\n0 0 0 0 0 1\n1,2,3,0,1,0\n"};
                        }});

}  // namespace
}  // namespace geosft::fuzz
