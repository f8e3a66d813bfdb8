// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/table.h"

#include "tests/tools/bench/bench_sizes.h"
#include "tests/tools/experiment/pictures.h"

namespace geosft::bench::test::test_roofline {

TEST_CASE("a roofline is drawn with the names of implementations and processor", "[bench]") {
  const geosft::test::PictureFolder folder;
  const Results results{
      some_machine(), small_sizes(), {some_measurement("a", "geosft"), some_measurement("a", "it's_other")}};
  const PlotResult drawn = draw_roofline(results, folder.stem());
  if (!geosft::test::require_picture(drawn, folder)) return;
  for (const char* text : {"geosft", "it's_other", "Some Processor", "max+add tiles", "multiply-add tiles"}) {
    INFO(text);
    CHECK(geosft::test::occurrences(folder.svg(), text) >= 1);
  }
}

TEST_CASE("without a bound there is nothing to draw", "[bench]") {
  const geosft::test::PictureFolder folder;
  Measurement one = some_measurement("a", "geosft");
  one.bound.reset();
  const PlotResult drawn = draw_roofline({some_machine(), small_sizes(), {one}}, folder.stem());
  CHECK_FALSE(drawn);
  CHECK_THAT(drawn.reason, Catch::Contains("bound"));
  CHECK(folder.empty());
}

}  // namespace geosft::bench::test::test_roofline
