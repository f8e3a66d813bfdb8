// SPDX-License-Identifier: Apache-2.0
// Reads and writes PNG images with libpng.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/picture.h"

namespace geosft {

struct GreyImage {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;  // row-major, 0 black to 255 white
};

// Reads a PNG of any kind as grey; transparent pixels are black. Throws DataError, naming `file`, for a damaged file or
// one that is not PNG, and for more than 2^26 pixels or more than its bytes can hold.
GreyImage read_png(std::string_view bytes, const std::string& file);

// Reads the same as colour.
ColourImage read_colour_png(std::string_view bytes, const std::string& file);

// Encodes an 8-bit grey PNG.
std::string png_bytes(const GreyImage& image);

}  // namespace geosft
