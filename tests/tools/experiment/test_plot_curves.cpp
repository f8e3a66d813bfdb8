// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/plot_curves.h"

#include "tests/support.h"
#include "tests/tools/experiment/pictures.h"
#include "tools/experiment/shortest_text.h"

namespace geosft::test::test_plot_curves {
namespace {

// Pixels from the upper edge to where `text` is first written.
double height_of_text(const std::string& svg, const std::string& text) {
  const size_t written = svg.find(text + "</text>");
  REQUIRE(written != std::string::npos);
  const size_t place = svg.rfind("translate(", written);
  return std::stod(svg.substr(svg.find(',', place) + 1));
}

double picture_height(const std::string& svg) {
  const std::string box = svg.substr(svg.find("viewBox=\"") + 9);  // "0 0 WIDTH HEIGHT"
  return std::stod(box.substr(box.find(' ', 4)));
}

}  // namespace

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

TEST_CASE("the names of many curves are below the axes, not over them") {
  for (const size_t count : {2, 21}) {
    const PictureFolder folder;
    CurvePanel panel{{"title", "tokens", "seconds"}, {}};
    for (size_t i = 0; i < count; ++i) {
      panel.curves.push_back({"a member of the family: " + std::to_string(i), {1, 2}, {1, 2}});
    }
    if (!require_picture(plot_curves({panel, panel, panel}, folder.stem()), folder)) return;
    const std::string svg = folder.svg();
    CHECK(height_of_text(svg, "tokens") < height_of_text(svg, panel.curves.front().name));
    CHECK(height_of_text(svg, panel.curves.back().name) < picture_height(svg));
  }
}

TEST_CASE("the points of a curve are put in order") {
  const Curve curve = in_order_of_x({"keys", {32, 8, 16}, {3, 1, 2}});
  CHECK(curve.name == "keys");
  CHECK(curve.x == std::vector<double>{8, 16, 32});
  CHECK(curve.y == std::vector<double>{1, 2, 3});
}

TEST_CASE("the numbers of curves come back exactly") {
  const std::string csv = curves_csv("n", "time", {{"a, b", {1, 1e-7}, {0.1, 3}}, {"c", {2}, {4}}});
  CHECK(csv == "curve,n,time\n\"a, b\",1,0.1\n\"a, b\",1e-07,3\nc,2,4\n");
  CHECK(csv_field("say \"x\"") == "\"say \"\"x\"\"\"");
  CHECK(shortest_text(1.0 / 3) == "0.3333333333333333");
}

TEST_CASE("places are moved apart as little as possible") {
  CHECK(moved_apart({}, 1).empty());
  CHECK(moved_apart({1, 5, 9}, 2) == std::vector<double>{1, 5, 9});
  CHECK(moved_apart({3, 3, 3}, 2) == std::vector<double>{1, 3, 5});
  const std::vector<double> moved = moved_apart({0, 0.5, 10, 10.1, 10.2}, 1);
  const std::vector<double> expected = {-0.25, 0.75, 9.1, 10.1, 11.1};
  for (size_t i = 0; i < expected.size(); ++i) CHECK(moved.at(i) == Approx(expected[i]));
}

TEST_CASE("a grid of panels names every curve once, at its end, and none over another") {
  const PictureFolder folder;
  std::vector<CurvePanel> panels;
  for (const char* quantity : {"seconds", "bytes"}) {
    for (const char* group : {"left group", "right group"}) {
      CurvePanel panel{{group, "tokens", quantity, true, true}, {}};
      for (int i = 0; i < 7; ++i) {
        const std::string name = std::string(quantity) + " " + group + " " + std::to_string(i);
        panel.curves.push_back({name, {512, 1024, 4096}, {1, 3, 10 + 0.01 * i}});
      }
      panels.push_back(panel);
    }
  }
  if (!require_picture(plot_curve_grid(panels, 2, folder.stem()), folder)) return;
  const std::string svg = folder.svg();
  for (const CurvePanel& panel : panels) {
    std::vector<double> heights;
    for (const Curve& curve : panel.curves) {
      CHECK(occurrences(svg, ">" + curve.name + "<") == 1);
      heights.push_back(height_of_text(svg, curve.name));
    }
    for (size_t i = 1; i < heights.size(); ++i) CHECK(heights[i - 1] - heights[i] >= 11);
  }
  CHECK(occurrences(svg, ">left group<") == 1);
  CHECK(occurrences(svg, ">seconds<") == 1);
  require_error([&] { plot_curve_grid(panels, 3, folder.stem()); }, {"panels"});
  panels[1].axes.log_y = false;
  require_error([&] { plot_curve_grid(panels, 2, folder.stem()); }, {"log_y"});
}

TEST_CASE("the best so far rises, or falls where lower is better", "[plot_curves]") {
  const Curve curve{"c", {1, 2, 3, 4}, {2, 1, 3, 0}};
  REQUIRE(best_so_far(curve, false).y == std::vector<double>{2, 2, 3, 3});
  REQUIRE(best_so_far(curve, true).y == std::vector<double>{2, 1, 1, 0});
  REQUIRE(best_so_far({"none", {}, {}}, true).y.empty());
}

}  // namespace geosft::test::test_plot_curves
