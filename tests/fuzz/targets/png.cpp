// SPDX-License-Identifier: Apache-2.0
#include "data/formats/png.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration png(
    {"png", [](const std::string& input) { read_png(input, "input"); },
     [] {
       return Inputs{png_bytes({2, 3, {0, 1, 2, 3, 4, 255}}), png_bytes({40, 30, std::vector<uint8_t>(1200)})};
     }});

}  // namespace
}  // namespace geosft::fuzz
