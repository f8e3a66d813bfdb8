// SPDX-License-Identifier: Apache-2.0
// Reads and writes colour pictures: JPEG with libjpeg-turbo, PNG with libpng.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

struct ColourImage {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;  // red, green and blue of each pixel, row-major
};

// Readers refuse pictures that have more.
inline constexpr uint64_t max_pixels = uint64_t{1} << 26;

// Decodes a JPEG or a PNG of any kind, recognised by its first bytes, to RGB: grey has three equal channels, CMYK is
// converted, transparent pixels are black. Orientation tags are ignored, as by torchvision. Throws DataError, naming
// `file`, for other data, damaged or truncated files, more than 2^26 pixels, more than the bytes can hold, and
// progressive JPEG of more than 500 scans.
ColourImage read_picture(std::string_view bytes, const std::string& file);

// Encodes an 8-bit RGB picture; quality from 1 to 100.
std::string jpeg_bytes(const ColourImage& image, int quality = 90);
std::string colour_png_bytes(const ColourImage& image);

// Returns whether a file's name ends as that of a picture: .jpg, .jpeg or .png, in any letter case.
bool is_picture_name(const std::string& name);

}  // namespace geosft
