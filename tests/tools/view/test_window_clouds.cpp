// SPDX-License-Identifier: Apache-2.0
// Pictures that geosft-view draws of clouds, on an invisible display.
#include <catch2/catch.hpp>

#include "tests/data/points/utm_chair.h"
#include "tests/tools/scene/looked_at.h"
#include "tests/tools/view/drawn_picture.h"
#include "tests/tools/view/virtual_screen.h"
#include "tools/view/overlay.h"

namespace geosft::test::test_window_clouds {

TEST_CASE("every colouring of a cloud draws it", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const Words ball = ball_with_two_layers(shop, 400) + Words{"--points", "400", "--view", "30,20,0.7"};
  for (const std::string colour : {"height", "normals", "importance", "samples", "attention", "diversity"}) {
    INFO(colour);
    const DrawnPicture picture = draw_view(shop, ball + Words{"--colour", colour});
    CHECK(picture.width == 420);
    CHECK(picture.height == 320);
    // The ball fills a good part of the picture and is not all of it; by normals and by height it is coloured.
    CHECK(picture.share(not_white) > 0.2);
    CHECK(picture.share(not_white) < 0.8);
    const bool full = colour == "normals" || colour == "height" || colour == "importance" || colour == "diversity";
    CHECK(picture.share(coloured) > (full ? 0.15 : 0.005));
  }
}

TEST_CASE("the projection, the background and the size of a picture are the chosen ones, and the scene fills it",
          "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_text(shop / "cube.xyz", "-1 -1 -1\n-1 -1 1\n-1 1 -1\n-1 1 1\n1 -1 -1\n1 -1 1\n1 1 -1\n1 1 1\n");
  const Words cube = {(shop / "cube.xyz").string(), "--view", "0,0"};
  const DrawnPicture perspective = draw_view(shop, cube),
                     parallel = draw_view(shop, cube + Words{"--projection", "orthographic"});
  CHECK(difference(perspective, parallel) > 0.01);
  // In parallel the far corners are behind the near ones, so that half as much is seen.
  CHECK(parallel.share(coloured) < 0.9 * perspective.share(coloured));
  // The name of the file may take the uppermost lines of so small a picture.
  for (const DrawnPicture& picture : {perspective, parallel}) {
    CHECK(picture.extent(coloured).second > 0.7 * picture.height);
  }
  const DrawnPicture black = draw_view(shop, cube + Words{"--background", "black"});
  CHECK((black.at(black.width - 2, 2) & 0xffffff) == 0);
  CHECK(black.share(coloured) > 0.5 * perspective.share(coloured));
  const std::filesystem::path file = shop / "large.png";
  const ProcessResult large =
      run_view_tool(cube + Words{"--size", "3840x2160", "--screenshot", file.string()}, shop.process());
  INFO(large.err);
  REQUIRE(large.exit == 0);
  const DrawnPicture picture(file);
  CHECK(picture.width == 3840);
  CHECK(picture.height == 2160);
  CHECK(picture.extent(coloured).second == Approx(0.9 * 2160).margin(60));  // margins of 5 %
}

TEST_CASE("another layer and another head are drawn differently, whatever they colour", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const Words ball = ball_with_two_layers(shop, 200);
  for (const std::string colour : {"importance", "samples", "attention", "diversity"}) {
    INFO(colour);
    const Words first = ball + Words{"--colour", colour, "--layer", "1"};
    const DrawnPicture picture = draw_view(shop, first);
    CHECK(difference(picture, draw_view(shop, first)) == 0);
    CHECK(difference(picture, draw_view(shop, ball + Words{"--colour", colour, "--layer", "2"})) > 0.01);
  }
  // Of layer 1: in the other one, little trained, the leaky relu leaves these points without any attention.
  const Words attention = ball + Words{"--colour", "attention", "--layer", "1"};
  const DrawnPicture head = draw_view(shop, attention + Words{"--query", "5", "--head", "2"});
  CHECK(difference(head, draw_view(shop, attention + Words{"--query", "5", "--head", "1"})) > 0.005);
  CHECK(difference(head, draw_view(shop, attention + Words{"--query", "6", "--head", "2"})) > 0.005);
}

TEST_CASE("attention over all points is drawn by heads and layers", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const Words attention =
      ball_with_two_layers(shop, 200, {"--attention", "softmax"}) + Words{"--colour", "attention", "--query", "5"};
  const auto drawn = [&](const char* layer, const char* head) {
    return draw_view(shop, attention + Words{"--layer", layer, "--head", head});
  };
  const DrawnPicture first = drawn("1", "1");
  CHECK(first.share(coloured) > 0.02);
  CHECK(difference(first, drawn("1", "2")) > 0.02);
  CHECK(difference(first, drawn("1", "0")) > 0.02);  // the mean of both
  CHECK(difference(first, drawn("2", "1")) > 0.02);
}

TEST_CASE("maps, views and a copy beside it draw different pictures", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const Words ball = ball_with_two_layers(shop, 200) + Words{"--colour", "importance", "--layer", "1"};
  const DrawnPicture first = draw_view(shop, ball);
  for (const Words& change : {Words{"--map", "cividis"}, Words{"--view", "100,60,1"}, Words{"--beside"}}) {
    CHECK(difference(first, draw_view(shop, ball + change)) > 0.02);
  }
}

TEST_CASE("points with normals are drawn as discs along the surface, however many there are", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  for (const int64_t points : {300, 25'000}) {  // balls and squares otherwise; a part of 25,000 discs while they move
    write_text(shop / "ball.xyz", sphere_xyz(1.0, points));
    const Words ball = {(shop / "ball.xyz").string(), "--colour", "height"};
    const DrawnPicture without = draw_view(shop, ball), discs = draw_view(shop, ball + Words{"--discs"});
    CHECK(difference(without, discs) > 0.01);
    CHECK(discs.share(coloured) > 0.15);
  }
  write_text(shop / "bare.xyz", sphere_xyz(1.0, 300, /*normals=*/false));
  require_view_failure(
      run_view_tool({(shop / "bare.xyz").string(), "--discs", "--screenshot", "x.png"}, shop.process()), 2,
      {"--discs", "no normals"});
}

TEST_CASE("clouds far from the origin, tiny, vast, or of one point are drawn like any other", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const at::Tensor chair = (chair_points(300) * 64).round() / 64;
  const auto drawn = [&](const at::Tensor& points) {
    write_text(shop / "chair.xyz", double_cloud_text("xyz", points));
    return draw_view(shop, {(shop / "chair.xyz").string(), "--colour", "height"});
  };
  const DrawnPicture near = drawn(chair);
  CHECK(near.share(coloured) > 0.02);
  for (const auto& [scale, offset] : {std::pair{1.0, 131072.0}, {1.0, 5155487.0}, {1e-9, 0.0}, {1e20, 0.0}}) {
    CAPTURE(scale, offset);
    CHECK(drawn(chair * scale + offset).share(coloured) == Approx(near.share(coloured)).epsilon(0.3));
  }
  for (const int64_t rows : {1, 4}) {
    for (const double place : {0.0, 694386.5, 1e20}) {
      CAPTURE(rows, place);
      CHECK(drawn(at::full({rows, 3}, place, at::kDouble)).share(coloured) > 0.05);
    }
  }
}

TEST_CASE("what is drawn stays clear of texts and legend", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 300));
  view::CloudGallery gallery({shop / "ball.xyz"}, nullptr, std::nullopt, {});
  for (const bool beside : {false, true}) {
    const Words words = {(shop / "ball.xyz").string(), "--size", "560x420", "--view", "20,30"};
    const std::filesystem::path file = shop / "clear.png";
    const ProcessResult drawn = run_view_tool(
        words + Words{"--screenshot", file.string()} + (beside ? Words{"--beside"} : Words{}), shop.process());
    REQUIRE(drawn.exit == 0);
    const DrawnPicture picture(file);
    const view::Scene scene = view::scene_of(gallery.get(0, beside), choose(view::Colouring::height));
    const view::Raster texts = view::shrunk(view::overlay_of(scene, false, {1120, 840}, 2), 2);
    const std::vector<view::Box> taken = view::taken_up(scene, {560, 420}, 1);
    int64_t covered = 0, differ = 0;
    for (const view::Box& box : taken) {
      for (int y = static_cast<int>(box.top); y < static_cast<int>(box.bottom); ++y) {
        for (int x = static_cast<int>(box.left); x < std::min(static_cast<int>(box.right), 560); ++x, ++covered) {
          const uint32_t text = texts.pixels[static_cast<size_t>(y) * 560 + static_cast<size_t>(x)];
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

}  // namespace geosft::test::test_window_clouds
