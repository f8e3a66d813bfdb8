// SPDX-License-Identifier: Apache-2.0
// Turns, the window of geosft-view, and what it says without a display.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "tests/places.h"
#include "tests/tools/view/drawn_picture.h"
#include "tests/tools/view/virtual_screen.h"

namespace geosft::test::test_window {
namespace {

bool has_imagemagick() {
  return std::system("convert -version 2>/dev/null | grep -q ImageMagick") == 0;
}

// Of an animated GIF: each frame has a graphic control extension.
size_t frames_of(const std::filesystem::path& file) {
  return count_of(read_text(file), "\x21\xf9\x04");
}

// Sends events to the window as the X server would: words of xdotool.
bool send(const std::string& words) {
  return std::system(("xdotool " + words + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

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
  CHECK(difference(DrawnPicture(shop / "turn/frame_0000.png"), DrawnPicture(shop / "turn/frame_0001.png")) > 0.02);
  if (has_imagemagick()) CHECK(frames_of(shop / "turn/turntable.gif") == 4);
  if (!has_imagemagick()) leave_out("no ImageMagick: the frames of an animated picture are not counted");
  if (!has_imagemagick() && !installed("ffmpeg")) CHECK_THAT(result.out, Catch::Contains("no animated picture"));
  // Frames of an earlier, longer turn stay out of a shorter one.
  const ProcessResult shorter = run_view_tool(
      {cube, "--size", "160x120", "--turntable", (shop / "turn").string(), "--frames", "2"}, shop.process());
  REQUIRE(shorter.exit == 0);
  if (has_imagemagick()) CHECK(frames_of(shop / "turn/turntable.gif") == 2);
}

TEST_CASE("a contact sheet and an animation of the layers are drawn", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const Words run = {"--run", shop.trained(), "--item", "1", "--colour", "samples"};
  const auto looked = [&](const Words& words) {
    const ProcessResult result = run_view_tool(run + words, shop.process());
    INFO(result.err);
    REQUIRE(result.exit == 0);
    return result.out;
  };
  looked({"--grid", "2x2", "--size", "640x480", "--screenshot", (shop / "sheet.png").string()});
  const DrawnPicture sheet(shop / "sheet.png");
  CHECK(sheet.width == 640);
  CHECK(sheet.height == 480);
  for (const bool right : {false, true}) {
    for (const bool below : {false, true}) {
      int64_t vivid = 0;  // of the quarters of the picture right of the key
      for (int y = below ? 240 : 0; y < (below ? 480 : 240); ++y) {
        for (int x = right ? 430 : 215; x < (right ? 640 : 425); ++x) vivid += coloured(sheet.at(x, y));
      }
      CHECK(vivid > 300);
    }
  }
  if (!has_imagemagick() && !installed("ffmpeg")) return leave_out("no ImageMagick or ffmpeg: nothing is animated");
  const Words small = {"--size", "161x121", "--animation"};
  CHECK_THAT(looked(small + Words{(shop / "film.gif").string()}), Catch::Contains("2 layers in "));
  CHECK(frames_of(shop / "film.gif") == 2);
  if (!installed("ffmpeg")) return leave_out("no ffmpeg: no WebM is written");
  looked(small + Words{(shop / "film.webm").string()});
  CHECK(read_text(shop / "film.webm").starts_with("\x1a\x45\xdf\xa3"));  // of Matroska
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
  INFO(rates);
  int64_t at_rest = 0, moving = 0;
  REQUIRE(std::sscanf(rates.c_str(), "%ld points: %*f frames/s; while it moves, %ld of them: %*f", &at_rest, &moving) ==
          2);
  CHECK_THAT(rates, Catch::EndsWith(" frames/s"));
  CHECK(at_rest == 150'000);  // all of them
  CHECK(moving < at_rest);
  CHECK(moving > 1000);
  CHECK(moving <= 100'000);
}

TEST_CASE("a shift-click picks a point that faces the eye, keys save a picture and quit", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  if (!has_program("xdotool", "keys and clicks are")) return;
  const ClassifyShop shop;
  ProcessOptions options = shop.process();
  options.folder = shop / "";
  // So dense that between its points no other side is seen.
  const Words words =
      ball_with_two_layers(shop, 16000) + Words{"--points", "16000", "--size", "500x500", "--view", "0,0,0.8"};
  const ProcessResult drawn =
      run_view_tool(words + Words{"--screenshot", (shop / "same.png").string()}, shop.process());
  REQUIRE(drawn.exit == 0);
  const auto [centre, level] = DrawnPicture(shop / "same.png").middle(coloured);
  Process process(program_path("geosft-view"), words, options);
  REQUIRE(send("search --sync --onlyvisible --name 'item 0 of 1' windowmove 0 0"));
  size_t clicks = 0;
  for (const auto& [across, down] : std::vector<std::pair<int, int>>{{0, 0}, {12, -6}, {-10, 12}}) {
    const std::string place = std::to_string(centre + across) + " " + std::to_string(level + down);
    REQUIRE(send("mousemove " + place + " keydown shift click 1 keyup shift"));
    CHECK(process.wait_for_output("query ", ++clicks));  // a click is where the pointer is when it is looked at
  }
  REQUIRE(send("key c key h key p key q"));  // handled one after the other
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
  CHECK(DrawnPicture(shop / "geosft-view-1.png").share(not_white) > 0.2);
}

TEST_CASE("without a display it says what to do", "[window]") {
  const ClassifyShop shop;
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const Words words = {cube, "--screenshot", (shop / "x.png").string()};
  {
    const Environment nowhere("DISPLAY", std::nullopt);
    require_view_failure(run_view_tool(words, shop.process()), 1,
                         {"DISPLAY is not set", "xvfb-run -a geosft-view", "--html", "--ply"});
    require_view_failure(run_view_tool({cube}, shop.process()), 1, {"DISPLAY is not set"});
  }
  const Environment closed("DISPLAY", ":9753");
  require_view_failure(run_view_tool(words, shop.process()), 1, {"':9753' cannot be opened", "xvfb-run"});
  CHECK_FALSE(std::filesystem::exists(shop / "x.png"));
}

TEST_CASE("without OpenGL it says what to do", "[window]") {
  const VirtualScreen screen(/*opengl=*/false);
  if (!screen.there()) return;
  const ClassifyShop shop;
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  require_view_failure(run_view_tool({cube, "--screenshot", (shop / "x.png").string()}, shop.process()), 1,
                       {"cannot be opened, or lacks OpenGL 3.3", "--html FILE"});
}

}  // namespace geosft::test::test_window
