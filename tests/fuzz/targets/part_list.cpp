// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_list.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration part_list({"part_list",
                              [](const std::string& input) {
                                parse_part_list(input, {"lamp", "mug"}, "input");
                              },
                              [] { return Inputs{"0 lamp top\n1 lamp foot\n2 mug cup\n"}; }});

}  // namespace
}  // namespace geosft::fuzz
