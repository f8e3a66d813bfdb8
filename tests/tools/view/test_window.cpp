// SPDX-License-Identifier: Apache-2.0
// Pictures and the window of geosft-view, on an invisible display.
#include <cairo.h>

#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/view/looked_at.h"
#include "tests/tools/view/view_tool.h"
#include "tests/tools/view/virtual_screen.h"
#include "tools/view/overlay.h"

namespace geosft::test::test_window {
namespace fs = std::filesystem;
namespace {

struct Picture {
  int width = 0, height = 0;
  std::vector<uint32_t> pixels;  // 0xffRRGGBB

  explicit Picture(const fs::path& file) {
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

  uint32_t at(int x, int y) const { return pixels[static_cast<size_t>(y * width + x)]; }

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
    for (int y = 0; y < height; ++y) {
      for (int x = 40; x < width; ++x) {
        if (!test(at(x, y))) continue;
        ++found;
        across += x;
        down += y;
      }
    }
    REQUIRE(found > 0);
    return {static_cast<int>(across / found), static_cast<int>(down / found)};
  }
};

bool coloured(uint32_t pixel) {
  const int r = pixel >> 16 & 0xff, g = pixel >> 8 & 0xff, b = pixel & 0xff;
  return std::max({r, g, b}) - std::min({r, g, b}) > 40;
}
bool not_white(uint32_t pixel) {
  return (pixel & 0xffffff) != 0xffffff;
}

constexpr const char* picture_size = "420x320";

// The picture that geosft-view draws with these words.
Picture draw(const ClassifyShop& shop, const Words& words) {
  const fs::path file = shop / "picture.png";
  fs::remove(file);
  const ProcessResult result =
      run_view_tool(words + Words{"--size", picture_size, "--screenshot", file.string()}, shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  return Picture(file);
}

double difference(const Picture& a, const Picture& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  int64_t different = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) different += a.pixels[i] != b.pixels[i];
  return static_cast<double>(different) / static_cast<double>(a.pixels.size());
}

Words two_layers(const ClassifyShop& shop) {
  const std::string run = (shop / "deep").string();
  shop.run_well(shop.train("deep", {"--layers", "2", "--epochs", "1"}));
  return {"--run", run, (shop / "ball.xyz").string()};
}

bool has_imagemagick() {
  return std::system("convert -version 2>/dev/null | grep -q ImageMagick") == 0;
}

// Of an animated GIF: each frame has a graphic control extension.
size_t frames_of(const fs::path& file) {
  return count_of(read_text(file), "\x21\xf9\x04");
}

// Sends events to the window as the X server would: words of xdotool.
bool send(const std::string& words) {
  return std::system(("xdotool " + words + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_CASE("every colouring of a cloud draws it", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 400));
  const Words ball = two_layers(shop) + Words{"--points", "400", "--view", "30,20,0.7"};
  for (const std::string colour : {"height", "normals", "importance", "samples", "attention", "diversity"}) {
    INFO(colour);
    const Picture picture = draw(shop, ball + Words{"--colour", colour});
    CHECK(picture.width == 420);
    CHECK(picture.height == 320);
    // The ball fills a good part of the picture and is not all of it; by normals and by height it is coloured.
    CHECK(picture.share(not_white) > 0.2);
    CHECK(picture.share(not_white) < 0.8);
    const bool full = colour == "normals" || colour == "height" || colour == "importance" || colour == "diversity";
    CHECK(picture.share(coloured) > (full ? 0.15 : 0.005));
  }
}

TEST_CASE("another layer and another head are drawn differently, whatever they colour", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 200));
  const Words ball = two_layers(shop);
  for (const std::string colour : {"importance", "samples", "attention", "diversity"}) {
    INFO(colour);
    const Words first = ball + Words{"--colour", colour, "--layer", "1"};
    const Picture picture = draw(shop, first);
    CHECK(difference(picture, draw(shop, first)) == 0);
    CHECK(difference(picture, draw(shop, ball + Words{"--colour", colour, "--layer", "2"})) > 0.01);
  }
  // Of layer 1: in the other one, little trained, the leaky relu leaves these points without any attention.
  const Words attention = ball + Words{"--colour", "attention", "--layer", "1"};
  const Picture head = draw(shop, attention + Words{"--query", "5", "--head", "2"});
  CHECK(difference(head, draw(shop, attention + Words{"--query", "5", "--head", "1"})) > 0.005);
  CHECK(difference(head, draw(shop, attention + Words{"--query", "6", "--head", "2"})) > 0.005);
}

TEST_CASE("maps, views and a copy beside it draw different pictures", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 200));
  const Words ball = two_layers(shop) + Words{"--colour", "importance", "--layer", "1"};
  const Picture first = draw(shop, ball);
  for (const Words& change : {Words{"--map", "cividis"}, Words{"--view", "100,60,1"}, Words{"--beside"}}) {
    CHECK(difference(first, draw(shop, ball + change)) > 0.02);
  }
}

TEST_CASE("parts are drawn in their colours, and another layer in others", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const SegmentShop parts;
  const std::string run = (parts / "deep").string();
  parts.run_well(parts.train("deep", {"--layers", "2", "--epochs", "1"}));
  const Words looked = {"--run", run, "--item", "1"};
  const Picture found = draw(shop, looked + Words{"--colour", "parts"});
  CHECK(found.share(not_white) > 0.01);
  CHECK(found.share(coloured) > 0.01);
  const Picture first = draw(shop, looked + Words{"--colour", "importance", "--layer", "1"});
  CHECK(difference(found, first) > 0.01);
  CHECK(difference(first, draw(shop, looked + Words{"--colour", "importance", "--layer", "2"})) > 0.005);
  CHECK(difference(found, draw(shop, looked + Words{"--colour", "parts", "--beside"})) > 0.01);
}

TEST_CASE("what is drawn stays clear of texts and legend", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 300));
  view::CloudGallery gallery({shop / "ball.xyz"}, nullptr, std::nullopt, {});
  for (const bool beside : {false, true}) {
    const Words words = {(shop / "ball.xyz").string(), "--size", "560x420", "--view", "20,30"};
    const fs::path file = shop / "clear.png";
    const ProcessResult drawn = run_view_tool(
        words + Words{"--screenshot", file.string()} + (beside ? Words{"--beside"} : Words{}), shop.process());
    REQUIRE(drawn.exit == 0);
    const Picture picture(file);
    const view::Scene scene = view::scene_of(gallery.get(0, beside), choose(view::Colouring::height));
    const view::Raster texts = view::shrunk(view::overlay_of(scene, false, {1120, 840}, 2), 2);
    const std::vector<view::Box> taken = view::taken_up(scene, {560, 420}, 1);
    int64_t covered = 0, differ = 0;
    for (const view::Box& box : taken) {
      for (int y = static_cast<int>(box.top); y < static_cast<int>(box.bottom); ++y) {
        for (int x = static_cast<int>(box.left); x < std::min(static_cast<int>(box.right), 560); ++x, ++covered) {
          const uint32_t text = texts.pixels[static_cast<size_t>(y * 560 + x)];
          const auto green = static_cast<int>((text >> 8 & 0xff) + 0xff - (text >> 24));  // over white
          differ += std::abs(green - static_cast<int>(picture.at(x, y) >> 8 & 0xff)) > 12;
        }
      }
    }
    CHECK(covered > 10'000);
    CHECK(differ == 0);
    CHECK(picture.share(coloured) > (beside ? 0.15 : 0.2));
  }
}

TEST_CASE("graphs are drawn with their edges", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const GraphShop graphs;
  for (const char* layout : {"spring", "spectral"}) {
    const Words words = {"--graph", "--data", graphs.data().string(), "--item", "2", "--layout", layout};
    const Picture picture = draw(shop, words);
    CHECK(picture.share(not_white) > 0.02);
    CHECK(picture.share(coloured) > 0.005);
  }
  graphs.run_well(graphs.train("deep", {"--layers", "2", "--epochs", "1"}));
  const Words run = {"--graph", "--run", (graphs / "deep").string(), "--item", "2"};
  for (const std::string colour : {"importance", "samples", "attention", "diversity"}) {
    INFO(colour);
    const Picture first = draw(shop, run + Words{"--colour", colour, "--layer", "1"});
    CHECK(first.share(not_white) > 0.02);
    CHECK(difference(first, draw(shop, run + Words{"--colour", colour, "--layer", "2"})) > 0.002);
  }
  CHECK(draw(shop, run).share(coloured) > 0.005);
  const Words walks = {"--graph", "--data", graphs.data().string(), "--item", "2", "--colour", "walks"};
  CHECK(difference(draw(shop, walks), draw(shop, walks + Words{"--component", "3"})) > 0.002);
}

TEST_CASE("a turn is drawn frame by frame, and animated where a program can", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const ProcessResult result = run_view_tool(
      {cube, "--size", "160x120", "--turntable", (shop / "turn").string(), "--frames", "4"}, shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK_THAT(result.out, Catch::Contains("4 frames"));
  CHECK(difference(Picture(shop / "turn/frame_0000.png"), Picture(shop / "turn/frame_0001.png")) > 0.02);
  if (has_imagemagick()) CHECK(frames_of(shop / "turn/turntable.gif") == 4);
  if (!has_imagemagick()) leave_out("no ImageMagick: the frames of an animated picture are not counted");
  if (!has_imagemagick() && !installed("ffmpeg")) CHECK_THAT(result.out, Catch::Contains("no animated picture"));
  // Frames of an earlier, longer turn stay out of a shorter one.
  const ProcessResult shorter = run_view_tool(
      {cube, "--size", "160x120", "--turntable", (shop / "turn").string(), "--frames", "2"}, shop.process());
  REQUIRE(shorter.exit == 0);
  if (has_imagemagick()) CHECK(frames_of(shop / "turn/turntable.gif") == 2);
}

TEST_CASE("a graph is turned frame by frame", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const GraphShop graphs;
  const ProcessResult result = run_view_tool({"--graph", "--data", graphs.data().string(), "--item", "2", "--size",
                                              "160x120", "--turntable", (shop / "turn").string(), "--frames", "4"},
                                             shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  const Picture first(shop / "turn/frame_0000.png");
  CHECK(first.share(not_white) > 0.01);
  CHECK(difference(first, Picture(shop / "turn/frame_0001.png")) > 0.002);
}

TEST_CASE("a large cloud moves as a part of its points", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_text(shop / "many.xyz", sphere_xyz(1.0, 150'000, /*normals=*/false));
  const ProcessResult result =
      run_view_tool({(shop / "many.xyz").string(), "--size", "200x150", "--frame-rate"}, shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  const std::string rates = lines_of(result.out).back();
  CHECK_THAT(rates, Catch::StartsWith("150000 points: ") && Catch::Contains("frames/s"));
  const std::string moving = rates.substr(rates.find("moves, ") + 7);
  CHECK(std::stol(moving) > 1000);
  CHECK(std::stol(moving) <= 100'000);
}

TEST_CASE("a shift-click picks a point that faces the eye, keys save a picture and quit", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  if (!has_program("xdotool", "keys and clicks are")) return;
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 16000));  // dense: between its points no other side is seen
  ProcessOptions options = shop.process();
  options.folder = shop / "";
  const Words words = two_layers(shop) + Words{"--points", "16000", "--size", "500x500", "--view", "0,0,0.8"};
  const ProcessResult drawn =
      run_view_tool(words + Words{"--screenshot", (shop / "same.png").string()}, shop.process());
  REQUIRE(drawn.exit == 0);
  const auto [centre, level] = Picture(shop / "same.png").middle(coloured);
  Process process(GEOSFT_VIEW, words, options);
  REQUIRE(send("search --sync --onlyvisible --name 'item 0 of 1' windowmove 0 0"));
  for (const auto& [across, down] : std::vector<std::pair<int, int>>{{0, 0}, {12, -6}, {-10, 12}}) {
    const std::string place = std::to_string(centre + across) + " " + std::to_string(level + down);
    REQUIRE(send("mousemove " + place + " sleep 0.3 keydown shift click 1 keyup shift sleep 0.5"));
  }
  REQUIRE(send("key c sleep 0.5 key h sleep 0.3 key p sleep 0.7 key q"));
  const ProcessResult result = process.wait();
  INFO(result.out << result.err);
  CHECK(result.exit == 0);
  std::set<std::string> picked;
  for (const std::string& line : lines_of(result.out)) {
    int64_t query = -1;
    double x = 0, y = 0, z = 0;
    if (std::sscanf(line.c_str(), "query %ld at %lf %lf %lf", &query, &x, &y, &z) != 4) continue;
    picked.insert(line);
    CHECK(z > 0.3);
    CHECK(std::abs(x) < 0.3);
    CHECK(std::abs(y) < 0.3);
  }
  CHECK(picked.size() >= 2);
  CHECK_THAT(result.out, Catch::Contains("saved geosft-view-1.png"));
  CHECK(Picture(shop / "geosft-view-1.png").share(not_white) > 0.2);
}

TEST_CASE("without a display it says what to do", "[window]") {
  const ClassifyShop shop;
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const Words words = {cube, "--screenshot", (shop / "x.png").string()};
  {
    const Environment nowhere("DISPLAY", std::nullopt);
    require_view_failure(run_view_tool(words, shop.process()), 1,
                         {"DISPLAY is not set", "xvfb-run -a geosft-view", "--ply"});
    require_view_failure(run_view_tool({cube}, shop.process()), 1, {"DISPLAY is not set"});
  }
  const Environment closed("DISPLAY", ":9753");
  require_view_failure(run_view_tool(words, shop.process()), 1, {"':9753' cannot be opened", "xvfb-run"});
  CHECK_FALSE(fs::exists(shop / "x.png"));
}

}  // namespace geosft::test::test_window
