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

TEST_CASE("lines are above, the legend below them, the help in the middle") {
  Scene scene;
  CHECK(drawn(overlay_of(scene, false, size, 1), 0, 400, 0, 300) == 0);
  scene.lines = {"a line of text"};
  const Raster text = overlay_of(scene, false, size, 1);
  CHECK(drawn(text, 0, 200, 0, 36) > 100);
  CHECK(drawn(text, 0, 400, 40, 300) == 0);
  scene.legend.title = "importance";
  scene.legend.bar = {ColourMap::viridis, ValueScale{0, 2}};
  const Raster bar = overlay_of(scene, false, size, 1);
  CHECK(drawn(bar, 0, 80, 56, 300) > 1000);
  CHECK(drawn(bar, 80, 400, 56, 300) == 0);
  for (const double end : {0.005, 0.995}) CHECK(has_pixel(bar, colour_at(ColourMap::viridis, end)));
  scene.legend.names = {{"chosen", {1, 0, 0}}};
  CHECK(has_pixel(overlay_of(scene, false, size, 1), {1, 0, 0}));
  CHECK(drawn(overlay_of(scene, true, {900, 700}, 1), 400, 500, 300, 400) > 9000);
}

TEST_CASE("more names than fit are counted") {
  Scene scene;
  scene.legend.title = "parts";
  for (int i = 0; i < 40; ++i) scene.legend.names.push_back({"part " + std::to_string(i), {i / 40.0, 0, 0.5}});
  const std::vector<Box> taken = taken_up(scene, size, 1);
  CHECK(taken.size() == 1 + 12);  // lines of 20 from 36 to 284
  CHECK(taken.back().bottom <= size.height);
  const Raster raster = overlay_of(scene, false, size, 1);
  CHECK(has_pixel(raster, {10 / 40.0, 0, 0.5}));
  CHECK_FALSE(has_pixel(raster, {11 / 40.0, 0, 0.5}));
}

TEST_CASE("what texts and legend take up holds all of them") {
  Scene scene;
  scene.lines = {"a longer line of text than the others", "short"};
  scene.legend = {"title", std::pair{ColourMap::cividis, ValueScale{-1.5, 1e-7}}, {{"the query", {1, 0, 0}}}};
  for (const double scale : {1.0, 2.0}) {
    const Raster raster = overlay_of(scene, false, {600, 500}, scale);
    const std::vector<Box> taken = taken_up(scene, raster.size, scale);
    CHECK(taken.size() == 5);
    int64_t outside = 0;
    for (int y = 0; y < 500; ++y) {
      for (int x = 0; x < 600; ++x) {
        const bool inside = std::any_of(taken.begin(), taken.end(), [&](const Box& box) {
          return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
        });
        outside += !inside && raster.pixels[static_cast<size_t>(y * 600 + x)] >> 24 != 0;
      }
    }
    CHECK(outside == 0);
  }
}

TEST_CASE("the room beside what is taken up is the largest for the proportions") {
  const std::vector<Box> taken = {{10, 10, 300, 30}, {10, 40, 60, 200}};
  CHECK((room_beside({}, size, 1) == Box{0, 0, 400, 300}));
  CHECK((room_beside(taken, size, 1) == Box{60, 30, 400, 300}));    // right of the bar, below the line
  CHECK((room_beside(taken, size, 0.3) == Box{300, 0, 400, 300}));  // beside both
  CHECK((room_beside(taken, size, 4.1) == Box{0, 200, 400, 300}));  // below both
  // A picture that is all text is drawn over.
  CHECK((room_beside({{0, 0, 390, 290}}, size, 1) == Box{0, 0, 400, 300}));
}

TEST_CASE("a scale enlarges all of it") {
  Scene scene;
  scene.lines = {"text"};
  const int64_t small = drawn(overlay_of(scene, false, {800, 600}, 1), 0, 800, 0, 600);
  const int64_t large = drawn(overlay_of(scene, false, {800, 600}, 2), 0, 800, 0, 600);
  CHECK(large > 2 * small);
}

TEST_CASE("labels are written around their places") {
  const Raster none = overlay_of({}, false, {200, 100}, 1),
               some = overlay_of({}, false, {200, 100}, 1, {{"C", 150, 60}});
  CHECK(drawn(none, 0, 200, 0, 100) == 0);
  CHECK(drawn(some, 140, 160, 50, 70) > 20);
  CHECK(drawn(some, 0, 135, 0, 100) == 0);
  const Raster large = overlay_of({}, false, {200, 100}, 1, {{"C", 150, 60, 40}});  // the point is larger
  CHECK(drawn(large, 130, 170, 40, 80) > 2 * drawn(some, 130, 170, 40, 80));
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

TEST_CASE("a piece is pasted at its place, over what is seen through it") {
  Raster whole{{3, 2}, std::vector<uint32_t>(6, 0xffffffff)};
  paste({{2, 1}, {0xff102030, 0x80400000}}, 1, 1, whole);
  CHECK(whole.pixels == std::vector<uint32_t>{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xff102030, 0xffbf7f7f});
  require_error([&] { paste({{2, 1}, {0, 0}}, 2, 0, whole); }, {"2 x 1", "3 x 2"});
}

TEST_CASE("a PNG is one, or the reason is given") {
  const TemporaryFolder folder;
  const Raster raster{{2, 2}, {0xffff0000, 0xff00ff00, 0xff0000ff, 0xffffffff}};
  write_png(raster, folder / "x.png");
  CHECK(read_file(folder / "x.png").rfind("\x89PNG\r\n", 0) == 0);
  require_error([&] { write_png(raster, folder / "no" / "x.png"); }, {"x.png", "expected"});
}

}  // namespace geosft::test::test_overlay
