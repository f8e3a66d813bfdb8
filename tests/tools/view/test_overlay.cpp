// SPDX-License-Identifier: Apache-2.0
#include "tools/view/overlay.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "data/read_file.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_overlay {
using namespace view;
namespace {

constexpr PictureSize size{400, 300};

// Pixels that are not transparent in the columns and rows given.
int64_t drawn(const Raster& raster, int left, int right, int top, int bottom) {
  int64_t count = 0;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      count += raster.pixels[static_cast<size_t>(y * raster.size.width + x)] >> 24 != 0;
    }
  }
  return count;
}

// Within two of 255 steps a channel: edges of what is drawn blend.
bool has_pixel(const Raster& raster, const Colour& colour) {
  return std::any_of(raster.pixels.begin(), raster.pixels.end(), [&](uint32_t pixel) {
    if (pixel >> 24 != 0xff) return false;
    for (int channel = 0; channel < 3; ++channel) {
      const auto value = static_cast<double>(pixel >> (16 - 8 * channel) & 0xff);
      if (std::abs(value - 255 * colour[static_cast<size_t>(channel)]) > 2) return false;
    }
    return true;
  });
}

}  // namespace

TEST_CASE("lines are above, the legend below, the help in the middle") {
  Scene scene;
  CHECK(drawn(overlay_of(scene, false, size, 1), 0, 400, 0, 300) == 0);
  scene.lines = {"a line of text"};
  const Raster text = overlay_of(scene, false, size, 1);
  CHECK(drawn(text, 0, 200, 0, 50) > 100);
  CHECK(drawn(text, 0, 400, 60, 300) == 0);
  scene.lines.clear();
  scene.legend.title = "importance";
  scene.legend.bar = {ColourMap::viridis, ValueScale{0, 2}};
  const Raster bar = overlay_of(scene, false, size, 1);
  CHECK(drawn(bar, 0, 200, 150, 300) > 1000);
  for (const double end : {0.005, 0.995}) CHECK(has_pixel(bar, colour_at(ColourMap::viridis, end)));
  scene.legend.names = {{"chosen", {1, 0, 0}}};
  CHECK(has_pixel(overlay_of(scene, false, size, 1), {1, 0, 0}));
  CHECK(drawn(overlay_of(scene, true, {900, 700}, 1), 400, 500, 300, 400) > 9000);
}

TEST_CASE("a scale enlarges all of it") {
  Scene scene;
  scene.lines = {"text"};
  const int64_t small = drawn(overlay_of(scene, false, {800, 600}, 1), 0, 800, 0, 600);
  const int64_t large = drawn(overlay_of(scene, false, {800, 600}, 2), 0, 800, 0, 600);
  CHECK(large > 2 * small);
}

TEST_CASE("a shrunk picture has the means of its blocks") {
  const Raster raster{{4, 2},
                      {0xff000000, 0xff000004, 0xffffffff, 0xffffffff, 0xff000008, 0xff000004, 0xffffffff, 0x00ffffff}};
  const Raster small = shrunk(raster, 2);
  REQUIRE(small.size.width == 2);
  REQUIRE(small.size.height == 1);
  CHECK(small.pixels[0] == 0xff000004);
  CHECK(small.pixels[1] == 0xbfffffff);
  CHECK(shrunk(raster, 1).pixels == raster.pixels);
  require_error([&] { shrunk(raster, 3); }, {"3", "4 x 2"});
}

TEST_CASE("a PNG is one, or the reason is given") {
  const TemporaryFolder folder;
  const Raster raster{{2, 2}, {0xffff0000, 0xff00ff00, 0xff0000ff, 0xffffffff}};
  write_png(raster, folder / "x.png");
  CHECK(read_file(folder / "x.png").rfind("\x89PNG\r\n", 0) == 0);
  require_error([&] { write_png(raster, folder / "no" / "x.png"); }, {"x.png", "expected"});
}

}  // namespace geosft::test::test_overlay
