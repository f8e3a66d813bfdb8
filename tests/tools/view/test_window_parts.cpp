// SPDX-License-Identifier: Apache-2.0
// Pictures that geosft-view draws of the parts of shapes, on an invisible display.
#include <catch2/catch.hpp>

#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/view/drawn_picture.h"
#include "tests/tools/view/virtual_screen.h"

namespace geosft::test::test_window_parts {

TEST_CASE("parts are drawn in their colours, and what the model did by layers and beside a copy", "[window]") {
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const SegmentShop parts;
  const std::string run = (parts / "deep").string();
  // So little trained, the leaky relu would leave most points without any attention.
  parts.run_well(parts.train("deep", {"--depth", "2", "--epochs", "1", "--probability", "softmax"}));
  const Words looked = {"--run", run, "--item", "1"};
  const DrawnPicture found = draw_view(shop, looked + Words{"--colour", "parts"});
  CHECK(found.share(not_white) > 0.01);
  CHECK(found.share(coloured) > 0.01);
  CHECK(difference(found, draw_view(shop, looked + Words{"--colour", "parts", "--beside"})) > 0.01);
  for (const std::string colour : {"importance", "attention", "samples", "diversity"}) {
    INFO(colour);
    const Words words = looked + Words{"--colour", colour, "--layer"};
    const DrawnPicture first = draw_view(shop, words + Words{"1"});
    CHECK(first.share(not_white) > 0.01);
    CHECK(difference(found, first) > 0.01);
    CHECK(difference(first, draw_view(shop, words + Words{"2"})) > 0.01);
    CHECK(difference(first, draw_view(shop, words + Words{"1", "--beside"})) > 0.01);
  }
}

}  // namespace geosft::test::test_window_parts
