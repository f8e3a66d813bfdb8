// SPDX-License-Identifier: Apache-2.0
// Grey pictures as PNG, by libpng.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

struct GreyImage {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;  // row by row, 0 black to 255 white
};

// A PNG of any kind as grey; transparent places are black. Throws DataError naming `file` for what is none, for a
// damaged one, and for more than 2^26 pixels or than
// its bytes can hold.
GreyImage read_png(std::string_view bytes, const std::string& file);

// A PNG of 8 bits grey.
std::string png_bytes(const GreyImage& image);

}  // namespace geosft
