// SPDX-License-Identifier: Apache-2.0
#include "tools/common/plot_curves.h"

#include "tests/support.h"
#include "tests/tools/common/pictures.h"

namespace geosft::test::test_plot_curves {

TEST_CASE("every curve of every panel is drawn with its name") {
  const PictureFolder folder;
  const Curve up{"it's {up}", {1, 10, 100}, {2, 20, 200}}, down{"down", {1, 2}, {5, 4}};
  const std::vector<CurvePanel> panels = {{{"left", "x", "y", true, true}, {up, down}}, {{"right", "n", "t"}, {down}}};
  if (!require_picture(plot_curves(panels, folder.stem()), folder)) return;
  const std::string svg = folder.svg();
  for (const char* text : {"it's {up}", "left", "right"}) CHECK(svg.find(text) != std::string::npos);
  CHECK(occurrences(svg, ">down<") == 2);
}

TEST_CASE("curves that cannot be drawn are refused") {
  const PictureFolder folder;
  const auto refuse = [&](const Curve& curve, const std::string& word) {
    require_error([&] { plot_curves({{{"t", "x", "y", true, true}, {curve}}}, folder.stem()); }, {curve.name, word});
  };
  refuse({"short", {1, 2}, {1}}, "as many y");
  refuse({"empty", {}, {}}, "as many y");
  refuse({"zero", {0, 1}, {1, 1}}, "positive x");
  refuse({"falls", {1, 2}, {1, -1}}, "positive y");
  require_error([&] { plot_curves({}, folder.stem()); }, {"panels"});
  require_error([&] { plot_curves({{{"t", "x", "y"}, {}}}, folder.stem()); }, {"curve"});
}

TEST_CASE("the numbers of curves come back exactly") {
  const std::string csv = curves_csv("n", "time", {{"a, b", {1, 1e-7}, {0.1, 3}}, {"c", {2}, {4}}});
  CHECK(csv == "curve,n,time\n\"a, b\",1,0.1\n\"a, b\",1e-07,3\nc,2,4\n");
  CHECK(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(exact_number(1.0 / 3) == "0.3333333333333333");
}

}  // namespace geosft::test::test_plot_curves
