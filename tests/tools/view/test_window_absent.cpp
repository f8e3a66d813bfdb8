// SPDX-License-Identifier: Apache-2.0
// A build that cannot draw says so.
#include <catch2/catch.hpp>

#include "tests/tools/view/view_tool.h"

namespace geosft::test::test_window_absent {

TEST_CASE("a build without Open3D says what is missing") {
  const ClassifyShop shop;
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  for (const Words& words :
       {Words{cube}, Words{cube, "--screenshot", (shop / "x.png").string()}, Words{cube, "--frame-rate"}}) {
    require_view_failure(run_view_tool(words, shop.process()), 1, {"Open3D", "tools/setup.sh --viewer", "--ply"});
  }
}

}  // namespace geosft::test::test_window_absent
