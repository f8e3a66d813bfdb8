// SPDX-License-Identifier: Apache-2.0
// geosft-segment report, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_report_command {

TEST_CASE("the report of a segmentation draws the predicted and the true parts of the worst shapes") {
  const SegmentShop shop;
  const std::filesystem::path run = shop.trained();
  CHECK(shop.run_well({"report", run.string(), "--mistakes", "2"}).out == (run / "report.html").string() + "\n");
  const std::string text = read_text(run / "report.html");
  CHECK(count_of(text, "<section ") == 2);
  CHECK(count_of(text, "<svg ") == 4);
  CHECK(count_of(text, "class=\"scene\"") == 2);
  CHECK_THAT(text, Catch::Contains("95 % interval of the instance IoU") && Catch::Contains("best.ckpt, epoch ") &&
                       Catch::Contains(" train, 4 test"));
  CHECK_THAT(text, Catch::Contains("instance IoU") && Catch::Contains("<figcaption>predicted</figcaption>") &&
                       Catch::Contains("<figcaption>true</figcaption>"));
}

}  // namespace geosft::test::test_segment_report_command
