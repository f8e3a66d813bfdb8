// SPDX-License-Identifier: Apache-2.0
// Pictures that geosft-view draws, pixel by pixel. For tests of a build that can draw.
#pragma once

#include <cairo.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/view/view_tool.h"

namespace geosft::test {

struct DrawnPicture {
  int width = 0, height = 0;
  std::vector<uint32_t> pixels;  // 0xffRRGGBB

  explicit DrawnPicture(const std::filesystem::path& file) {
    const std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface(
        cairo_image_surface_create_from_png(file.c_str()), &cairo_surface_destroy);
    REQUIRE(cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS);
    width = cairo_image_surface_get_width(surface.get());
    height = cairo_image_surface_get_height(surface.get());
    const auto* row = cairo_image_surface_get_data(surface.get());
    for (int y = 0; y < height; ++y, row += cairo_image_surface_get_stride(surface.get())) {
      const auto* first = reinterpret_cast<const uint32_t*>(row);
      pixels.insert(pixels.end(), first, first + width);
    }
  }

  uint32_t at(int x, int y) const {
    return pixels[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }

  // Share of the pixels right of the legend that `test` is true of.
  template <typename Test>
  double share(const Test& test) const {
    int64_t found = 0, all = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = width / 3; x < width; ++x, ++all) found += test(at(x, y));
    }
    return static_cast<double>(found) / static_cast<double>(all);
  }
  // The mean place of the pixels right of the legend's bar that `test` is true of.
  template <typename Test>
  std::pair<int, int> middle(const Test& test) const {
    int64_t found = 0, across = 0, down = 0;
    each(test, [&](int x, int y) {
      ++found;
      across += x;
      down += y;
    });
    REQUIRE(found > 0);
    return {static_cast<int>(across / found), static_cast<int>(down / found)};
  }
  // How wide and how tall the pixels right of the legend's bar are that `test` is true of.
  template <typename Test>
  std::pair<int, int> extent(const Test& test) const {
    int left = width, right = 0, top = height, bottom = 0;
    each(test, [&](int x, int y) {
      left = std::min(left, x);
      right = std::max(right, x + 1);
      top = std::min(top, y);
      bottom = std::max(bottom, y + 1);
    });
    REQUIRE(left < right);
    return {right - left, bottom - top};
  }

 private:
  static constexpr int bar_end = 40;  // of the legend's bar

  template <typename Test, typename Told>
  void each(const Test& test, const Told& told) const {
    for (int y = 0; y < height; ++y) {
      for (int x = bar_end; x < width; ++x) {
        if (test(at(x, y))) told(x, y);
      }
    }
  }
};

inline bool coloured(uint32_t pixel) {
  const int r = pixel >> 16 & 0xff, g = pixel >> 8 & 0xff, b = pixel & 0xff;
  return std::max({r, g, b}) - std::min({r, g, b}) > 40;
}
inline bool not_white(uint32_t pixel) {
  return (pixel & 0xffffff) != 0xffffff;
}

// Share of the pixels in which they differ.
inline double difference(const DrawnPicture& a, const DrawnPicture& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  int64_t different = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) different += a.pixels[i] != b.pixels[i];
  return static_cast<double>(different) / static_cast<double>(a.pixels.size());
}

// The picture, 420 x 320, that geosft-view draws with these words.
inline DrawnPicture draw_view(const ClassifyShop& shop, const Words& words) {
  const std::filesystem::path file = shop / "picture.png";
  std::filesystem::remove(file);
  const ProcessResult result =
      run_view_tool(words + Words{"--size", "420x320", "--screenshot", file.string()}, shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  return DrawnPicture(file);
}

// ball.xyz of the shop with a classifier of two layers; `more` is said to its training.
inline Words ball_with_two_layers(const ClassifyShop& shop, int64_t points, const Words& more = {}) {
  write_text(shop / "ball.xyz", sphere_xyz(1.0, points));
  shop.run_well(shop.train("deep", Words{"--depth", "2", "--epochs", "1"} + more));
  return {"--run", (shop / "deep").string(), (shop / "ball.xyz").string()};
}

}  // namespace geosft::test
