// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/pathfinder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "data/sequences/sequence_dataset.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_pathfinder {
namespace {

double distance(const PathfinderPoint& a, const PathfinderPoint& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1]);
}

int grey_at(const GreyImage& image, const PathfinderPoint& x) {
  const double pixels = static_cast<double>(image.width) / 32;
  const auto row = static_cast<int64_t>(x[1] * pixels), column = static_cast<int64_t>(x[0] * pixels);
  return image.pixels[static_cast<size_t>(row * image.width + column)];
}

double brightness(const GreyImage& image) {
  return std::accumulate(image.pixels.begin(), image.pixels.end(), 0.0) / 255;
}

void require_apart(const PathfinderItem& item) {
  for (size_t a = 0; a < item.curves.size(); ++a) {
    for (size_t b = a; b < item.curves.size(); ++b) {
      for (size_t i = 0; i < item.curves[a].size(); ++i) {
        for (size_t j = 0; j < item.curves[b].size(); ++j) {
          if (a == b && i <= j + 1 && j <= i + 1) continue;
          REQUIRE(distance(item.curves[a][i], item.curves[b][j]) >= 2.5);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("a path connects two dots, or does not", "[pathfinder]") {
  const PathfinderOptions options;
  double bright[2] = {0, 0};
  for (int i = 0; i < 60; ++i) {
    at::Generator random = generator(100 + i);
    const bool connected = i % 2 == 1;
    const PathfinderItem item = generate_pathfinder(options, connected, random);
    REQUIRE(item.curves.size() == 8);
    for (size_t c = 0; c < 8; ++c) REQUIRE(item.curves[c].size() == (c < 2 ? 15 : 5));
    require_apart(item);
    const auto ends = [&](size_t curve, const PathfinderPoint& dot) {
      return dot == item.curves[curve].front() || dot == item.curves[curve].back();
    };
    REQUIRE(ends(0, item.dots[0]));
    REQUIRE(ends(connected ? 0 : 1, item.dots[1]));
    REQUIRE((item.dots[0] != item.dots[1]));
    for (const PathfinderPoint& dot : item.dots) REQUIRE(grey_at(item.image, dot) > 200);
    bright[connected ? 1 : 0] += brightness(item.image) / 30;
  }
  // Nothing but the path tells the classes apart: as much is white in both.
  CHECK(bright[0] == Approx(bright[1]).epsilon(0.03));
  CHECK(bright[0] > 40);
  CHECK(bright[0] < 200);
}

TEST_CASE("a picture is a function of the generator's state, and as large as asked for", "[pathfinder]") {
  at::Generator one = generator(1), same = generator(1), other = generator(2), large = generator(1);
  const PathfinderItem item = generate_pathfinder({}, true, one);
  CHECK(generate_pathfinder({}, true, same).image.pixels == item.image.pixels);
  CHECK(generate_pathfinder({}, true, other).image.pixels != item.image.pixels);
  const PathfinderItem larger = generate_pathfinder({.side = 128}, true, large);
  CHECK(larger.image.pixels.size() == 128 * 128);
  CHECK((larger.curves == item.curves));
  // Dashes are white, the gaps behind them black.
  for (const auto& curve : larger.curves) {
    for (size_t j = 0; j + 1 < curve.size(); ++j) {
      const auto along = [&](double share) {
        const PathfinderPoint &from = curve[j], &to = curve[j + 1];
        return PathfinderPoint{from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])};
      };
      REQUIRE(grey_at(larger.image, along(0.32)) > 200);
      if (j > 0 && j + 2 < curve.size()) REQUIRE(grey_at(larger.image, along(0.82)) < 50);  // no dot is near
    }
  }
  // Edges are blurred over a pixel, which adds to what is white where pixels are large.
  CHECK(brightness(larger.image) / 16 == Approx(brightness(item.image)).epsilon(0.25));
  CHECK(item.connected);
  require_error([&] { generate_pathfinder({.dashes = 0}, true, one); }, {"dashes >= 1", "0"});
  require_error([&] { generate_pathfinder({.dashes = 300}, true, one); }, {"no place", "300"});
}

TEST_CASE("pictures are written and read back", "[pathfinder]") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_pathfinder(folder.path()));
  const PathfinderOptions options{.side = 16, .dashes = 5, .distractors = 1};
  write_pathfinder(folder.path(), options, 20, 7);
  CHECK(is_sequence_dataset(folder.path()));
  const PackedItems packed = open_sequence_dataset(folder.path());
  CHECK(packed.size() == 20);
  CHECK(packed.schema.grid_height == 16);
  CHECK(packed.schema.grid_width == 16);
  CHECK(packed.schema.output_names == std::vector<std::string>{"apart", "connected"});
  require_equal(packed.target, at::arange(20).remainder(2), "half of each class");
  CHECK(packed.split->train.size() == 16);
  CHECK(packed.split->validation == std::vector<int64_t>{16, 17});
  CHECK(packed.split->test == std::vector<int64_t>{18, 19});
  const TemporaryFolder again;
  write_pathfinder(again.path(), options, 20, 7);
  CHECK(read_text(again / "imgs/0/sample_19.png") == read_text(folder / "imgs/0/sample_19.png"));
  const GreyImage last = read_png(read_text(folder / "imgs/0/sample_19.png"), "last");
  require_close(packed.node_values.slice(0, -256).squeeze(1) * 255,
                at::tensor(std::vector<float>(last.pixels.begin(), last.pixels.end())), 1e-6, "pixels");
}

TEST_CASE("broken folders of pictures are refused", "[pathfinder]") {
  const TemporaryFolder folder;
  write_text(folder / "imgs/0/a.png", png_bytes({2, 2, {1, 2, 3, 4}}));
  write_text(folder / "imgs/0/b.png", png_bytes({1, 2, {1, 2}}));
  write_text(folder / "imgs/0/c.png", "no picture");
  const auto refused = [&](const std::string& lines, const std::vector<std::string>& words) {
    write_text(folder / "metadata/0.npy", lines);
    require_error([&] { read_pathfinder(folder.path()); }, words);
  };
  refused("", {"metadata/*.npy", "none"});
  refused(std::string("\x93NUMPY\x01\0v\0{'descr': '<U9'}\n", 27), {"0.npy", "lines of text", "an array of NumPy"});
  refused("imgs/0 a.png 0\n", {"0.npy:1", "a label"});
  refused("imgs/0 a.png 0 2\n", {"0.npy:1", "0 or 1", "2"});
  refused("imgs/0 a.png 0 1\nimgs/0 b.png 1 0\n", {"b.png", "2 x 2", "1 x 2"});
  refused("imgs/0 a.png 0 1\nimgs/0 c.png 1 0\n", {"c.png", "a PNG"});
  refused("imgs/0 d.png 0 1\n", {"d.png"});
  refused("../imgs/0 a.png 0 1\n", {"0.npy", "files in its folder", "../imgs/0"});
  refused("imgs/0 /a.png 0 1\n", {"0.npy", "files in its folder", "/a.png"});
}

}  // namespace geosft::test::test_pathfinder
