// SPDX-License-Identifier: Apache-2.0
#include "data/formats/png.h"

#include <png.h>

#include <algorithm>
#include <stdexcept>

#include "data/data_error.h"
#include "data/formats/compression.h"

namespace geosft {
namespace {

// RAII wrapper of libpng's image state.
struct PngImage {
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  png_image image{};
};

// Decodes to `format`, GreyImage or ColourImage.
template <class Image>
Image decoded(std::string_view bytes, const std::string& file, png_uint_32 format) {
  PngImage png;
  if (png_image_begin_read_from_memory(&png.image, bytes.data(), bytes.size()) == 0) {
    throw DataError(file, "a PNG", png.image.message);
  }
  // A pixel takes at least one bit.
  const uint64_t maximum = std::min(max_pixels, 8 * deflate_ratio * bytes.size());
  if (uint64_t{png.image.width} * png.image.height > maximum) {
    throw DataError(file,
                    "at most " + std::to_string(maximum) + " pixels in " + std::to_string(bytes.size()) + " bytes",
                    std::to_string(png.image.width) + " x " + std::to_string(png.image.height));
  }
  png.image.format = format;
  Image image{png.image.height, png.image.width, {}};
  image.pixels.resize(PNG_IMAGE_SIZE(png.image));
  if (png_image_finish_read(&png.image, nullptr, image.pixels.data(), 0, nullptr) == 0) {
    throw DataError(file, "a whole PNG", png.image.message);
  }
  return image;
}

template <class Image>
std::string encoded(const Image& image, png_uint_32 format) {
  PngImage png;
  png.image.width = static_cast<png_uint_32>(image.width);
  png.image.height = static_cast<png_uint_32>(image.height);
  png.image.format = format;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png.image, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error(std::string("no PNG could be made: ") + png.image.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

GreyImage read_png(std::string_view bytes, const std::string& file) {
  return decoded<GreyImage>(bytes, file, PNG_FORMAT_GRAY);
}

ColourImage read_colour_png(std::string_view bytes, const std::string& file) {
  return decoded<ColourImage>(bytes, file, PNG_FORMAT_RGB);
}

std::string png_bytes(const GreyImage& image) {
  return encoded(image, PNG_FORMAT_GRAY);
}

std::string colour_png_bytes(const ColourImage& image) {
  return encoded(image, PNG_FORMAT_RGB);
}

}  // namespace geosft
