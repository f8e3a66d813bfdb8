// SPDX-License-Identifier: Apache-2.0
#include "data/formats/picture.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration picture(
    {"picture", [](const std::string& input) { read_picture(input, "input"); },
     [] {
       ColourImage image{24, 20, std::vector<uint8_t>(3 * 24 * 20)};
       for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i * i / 7);
       return Inputs{jpeg_bytes(image), jpeg_bytes(image, 30), jpeg_bytes({1, 1, {1, 2, 3}}), colour_png_bytes(image)};
     }});

}  // namespace
}  // namespace geosft::fuzz
