// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration off({"off", [](const std::string& input) { to_cloud(read_off(input, "input"), 8, 1, "input"); },
                        [] {
                          return Inputs{"off 3 1 0 0 0 0 1 0 0\n0 1 0 3 0 1 2",
                                        "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
                                        "OFF4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n",
                                        "CNOFF\n# x\n3 1 3\n0 0 0 0 0 1 9 9 9 9\n1 0 0\n0 1 0\n3 2 1 0\n"};
                        }});

}  // namespace
}  // namespace geosft::fuzz
