// SPDX-License-Identifier: Apache-2.0
// The program of a build that cannot draw, which a build that can makes beside its own.
#include <catch2/catch.hpp>

#include "tests/places.h"
#include "tests/tools/view/view_tool.h"

namespace geosft::test::test_window_absent {
namespace {

ProcessResult run_without_open3d(const Words& words, const ClassifyShop& shop) {
  return run_process(program_path(GEOSFT_VIEW_WITHOUT_OPEN3D), words, shop.process());
}

}  // namespace

TEST_CASE("a build without Open3D says what is missing") {
  const ClassifyShop shop;
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  for (const Words& words :
       {Words{cube}, Words{cube, "--screenshot", (shop / "x.png").string()},
        Words{cube, "--turntable", (shop / "turn").string(), "--frames", "2"}, Words{cube, "--frame-rate"}}) {
    require_view_failure(run_without_open3d(words, shop), 1, {"Open3D", "tools/setup.sh --viewer", "--html", "--ply"});
  }
  CHECK_FALSE(std::filesystem::exists(shop / "x.png"));
}

TEST_CASE("a build without Open3D writes coloured points, as one with it does") {
  const ClassifyShop shop;
  const std::string without = (shop / "without.ply").string(), with = (shop / "with.ply").string();
  const Words run = {"--run", shop.trained(), "--item", "1", "--colour", "importance", "--ply", without};
  const ProcessResult looked = run_without_open3d(run, shop);
  INFO(looked.err);
  REQUIRE(looked.exit == 0);
  CHECK_THAT(looked.out, Catch::Contains("predicted: "));
  CHECK_THAT(read_text(without), Catch::Contains("element vertex 64\n") && Catch::Contains("property float value"));
  const Words cube = {(shop.data() / "test" / "cube" / "cube_5.off").string(), "--colour", "normals", "--ply"};
  REQUIRE(run_without_open3d(cube + Words{without}, shop).exit == 0);
  REQUIRE(run_view_tool(cube + Words{with}, shop.process()).exit == 0);
  CHECK(read_text(without) == read_text(with));
}

}  // namespace geosft::test::test_window_absent
