// SPDX-License-Identifier: Apache-2.0
// Pictures that geosft-view draws of graphs, on an invisible display.
#include <catch2/catch.hpp>

#include "tests/data/graphs/molecule_files.h"
#include "tests/places.h"
#include "tests/tools/view/drawn_picture.h"
#include "tests/tools/view/virtual_screen.h"

namespace geosft::test::test_window_graphs {
namespace {

// Diacetylene, whose six atoms lie on a line along an axis.
PlacedMolecule rod_along(int64_t axis) {
  const at::Tensor places = at::zeros({6, 3}, at::kDouble);
  places.select(1, axis).copy_(at::tensor({0.0, 1.06, 2.27, 3.64, 4.85, 5.91}, at::kDouble));
  return {{"H", "C", "C", "C", "C", "H"}, places, -600.0};
}

}  // namespace

TEST_CASE("graphs are drawn with their edges", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const GraphShop graphs;
  for (const char* layout : {"spring", "spectral"}) {
    const Words words = {"--graph", "--data", graphs.data().string(), "--item", "2", "--layout", layout};
    const DrawnPicture picture = draw_view(shop, words);
    CHECK(picture.share(not_white) > 0.02);
    CHECK(picture.share(coloured) > 0.005);
  }
  graphs.run_well(graphs.train("deep", {"--depth", "2", "--epochs", "1"}));
  const Words run = {"--graph", "--run", (graphs / "deep").string(), "--item", "2"};
  for (const std::string colour : {"importance", "samples", "attention", "diversity"}) {
    INFO(colour);
    const DrawnPicture first = draw_view(shop, run + Words{"--colour", colour, "--layer", "1"});
    CHECK(first.share(not_white) > 0.02);
    CHECK(difference(first, draw_view(shop, run + Words{"--colour", colour, "--layer", "2"})) > 0.002);
  }
  CHECK(draw_view(shop, run).share(coloured) > 0.005);
  const Words walks = {"--graph", "--data", graphs.data().string(), "--item", "2", "--colour", "walks"};
  CHECK(difference(draw_view(shop, walks), draw_view(shop, walks + Words{"--component", "3"})) > 0.002);
}

TEST_CASE("molecules are drawn at their coordinates", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_qm7(shop / "rods", {rod_along(0), rod_along(1)});
  const auto drawn = [&](const char* item, const char* layout) {
    return draw_view(shop, {"--graph", "--data", (shop / "rods").string(), "--item", item, "--layout", layout, "--view",
                            "0,0,1", "--colour", "walks"});
  };
  const DrawnPicture lying = drawn("0", "coordinates"), standing = drawn("1", "coordinates");
  const auto [lying_wide, lying_tall] = lying.extent(coloured);
  CHECK(lying_wide > 3 * lying_tall);
  const auto [standing_wide, standing_tall] = standing.extent(coloured);
  CHECK(standing_tall > 3 * standing_wide);
  // Coordinates are the default if there are any; the force-directed layout ignores them.
  CHECK(difference(lying, drawn("0", "automatic")) == 0);
  CHECK(difference(lying, drawn("0", "spring")) > 0.002);
}

TEST_CASE("letters are over the atoms in pictures, and in a window after a key", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  write_qm7(shop / "rods", {rod_along(0), rod_along(1)});
  const Words rod = {"--graph", "--data", (shop / "rods").string(), "--item", "0", "--colour", "elements"};
  const DrawnPicture bare = draw_view(shop, rod), lettered = draw_view(shop, rod + Words{"--labels"});
  CHECK(difference(bare, lettered) > 0.001);
  if (!has_program("xdotool", "keys are")) return;
  ProcessOptions options = shop.process();
  options.folder = shop / "";
  Process process(program_path("geosft-view"), rod + Words{"--size", "420x320"}, options);
  REQUIRE(std::system("xdotool search --sync --onlyvisible --name 'item 0 of 2' windowmove 0 0 >/dev/null 2>&1") == 0);
  REQUIRE(std::system("xdotool mousemove 200 160 key p key l key p key l key p key q >/dev/null 2>&1") == 0);
  const ProcessResult result = process.wait();
  INFO(result.out << result.err);
  REQUIRE(result.exit == 0);
  const DrawnPicture first(shop / "geosft-view-1.png"), second(shop / "geosft-view-2.png"),
      third(shop / "geosft-view-3.png");
  CHECK(difference(first, second) > 0.001);
  CHECK(difference(first, third) == 0);
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
  const DrawnPicture first(shop / "turn/frame_0000.png");
  CHECK(first.share(not_white) > 0.01);
  CHECK(difference(first, DrawnPicture(shop / "turn/frame_0001.png")) > 0.002);
}

}  // namespace geosft::test::test_window_graphs
