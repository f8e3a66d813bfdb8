// SPDX-License-Identifier: Apache-2.0
#include "data/formats/picture.h"

#include <catch2/catch.hpp>
#include <cstdio>
// After cstdio, whose types it needs.
#include <jpeglib.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "data/data_error.h"
#include "data/formats/jpeg.h"
#include "data/formats/png.h"
#include "tests/support.h"

namespace geosft::test::test_picture {
namespace {

// A smooth picture, which JPEG changes little.
ColourImage smooth(int64_t height, int64_t width) {
  ColourImage image{height, width, {}};
  for (int64_t row = 0; row < height; ++row) {
    for (int64_t column = 0; column < width; ++column) {
      image.pixels.push_back(static_cast<uint8_t>(40 + 150 * row / height));
      image.pixels.push_back(static_cast<uint8_t>(200 - 120 * column / width));
      image.pixels.push_back(90);
    }
  }
  return image;
}

// Encodes samples of `channels` per pixel without subsampling, as grey, CMYK, or progressively.
std::string encoded(const std::vector<uint8_t>& samples, unsigned width, unsigned height, int channels,
                    J_COLOR_SPACE space, bool progressive = false) {
  jpeg_compress_struct state;
  jpeg_error_mgr errors;
  state.err = jpeg_std_error(&errors);
  jpeg_create_compress(&state);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&state, &bytes, &size);
  state.image_width = width;
  state.image_height = height;
  state.input_components = channels;
  state.in_color_space = space;
  jpeg_set_defaults(&state);
  jpeg_set_quality(&state, 100, TRUE);
  if (progressive) jpeg_simple_progression(&state);
  jpeg_start_compress(&state, TRUE);
  while (state.next_scanline < height) {
    JSAMPROW row = const_cast<uint8_t*>(samples.data()) + size_t{width} * state.next_scanline * size_t(channels);
    jpeg_write_scanlines(&state, &row, 1);
  }
  jpeg_finish_compress(&state);
  jpeg_destroy_compress(&state);
  std::string text(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return text;
}

int largest_difference(const ColourImage& a, const ColourImage& b) {
  REQUIRE((a.height == b.height && a.width == b.width && a.pixels.size() == b.pixels.size()));
  int maximum = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i)
    maximum = std::max(maximum, std::abs(int{a.pixels[i]} - int{b.pixels[i]}));
  return maximum;
}

}  // namespace

TEST_CASE("colour pictures come back from a PNG exactly, and from a JPEG nearly", "[picture]") {
  const ColourImage image = smooth(19, 30);
  CHECK(largest_difference(read_picture(colour_png_bytes(image), "x"), image) == 0);
  CHECK(largest_difference(read_picture(jpeg_bytes(image, 95), "x"), image) <= 6);
  CHECK(largest_difference(read_picture(encoded(image.pixels, 30, 19, 3, JCS_RGB, /*progressive=*/true), "x"), image) <=
        4);
  // Compared with the names of files, the first bytes decide.
  CHECK(is_picture_name("a/b.JPG"));
  CHECK(is_picture_name("b.jpeg"));
  CHECK(is_picture_name("b.png"));
  CHECK_FALSE(is_picture_name("b.txt"));
}

TEST_CASE("grey pictures become colour, and ink becomes light", "[picture]") {
  const std::vector<uint8_t> grey(64, 77);
  for (const std::string& bytes : {encoded(grey, 8, 8, 1, JCS_GRAYSCALE), png_bytes(GreyImage{8, 8, grey})}) {
    const ColourImage read = read_picture(bytes, "x");
    REQUIRE(read.pixels.size() == 3 * 64);
    for (const uint8_t value : read.pixels) CHECK(std::abs(int{value} - 77) <= 1);
  }
  // libjpeg writes Adobe's marker, with which 255 is no ink: red, full light of black.
  std::vector<uint8_t> inks;
  for (int i = 0; i < 64; ++i) inks.insert(inks.end(), {255, 0, 0, 255});
  const ColourImage red = read_picture(encoded(inks, 8, 8, 4, JCS_CMYK), "x");
  REQUIRE(red.pixels.size() == 3 * 64);
  CHECK((red.pixels[0] >= 250 && red.pixels[1] <= 5 && red.pixels[2] <= 5));
}

TEST_CASE("broken pictures are refused with their name", "[picture]") {
  const ColourImage image = smooth(40, 40);
  const std::string jpeg = jpeg_bytes(image), png = colour_png_bytes(image);
  for (const std::string& bytes : {jpeg, png}) {
    for (const size_t kept : {size_t{0}, size_t{2}, size_t{30}, bytes.size() / 2, bytes.size() - 20}) {
      require_error([&] { read_picture(bytes.substr(0, kept), "broken.jpg"); }, {"broken.jpg", "expected"});
    }
  }
  require_error([] { read_picture("GIF89a", "x.jpg"); }, {"x.jpg", "a JPEG or a PNG"});
  require_error([] { read_picture("", "x.jpg"); }, {"x.jpg", "an empty file"});
  // 65,535 x 65,535 pixels in the frame header.
  std::string huge = jpeg;
  const size_t frame = huge.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  huge.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
  require_error([&] { read_picture(huge, "x.jpg"); }, {"x.jpg", "at most", "65500 x 65500"});
}

TEST_CASE("damaged pictures end in a picture or a DataError", "[picture]") {
  const ColourImage image = smooth(24, 33);
  const std::string baseline = jpeg_bytes(image), progressive = encoded(image.pixels, 33, 24, 3, JCS_RGB, true);
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = round % 2 == 0 ? baseline : progressive;
    for (uint32_t changes = 1 + random() % 6; changes > 0; --changes) {
      bytes[2 + random() % (bytes.size() - 2)] = static_cast<char>(random());
    }
    try {
      const ColourImage read = read_picture(bytes, "x");
      CHECK(read.pixels.size() == static_cast<size_t>(3 * read.height * read.width));
    } catch (const DataError&) {
    }
  }
}

}  // namespace geosft::test::test_picture
