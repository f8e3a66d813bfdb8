// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "tests/support.h"
#include "tests/tools/experiment/pictures.h"
#include "tools/experiment/plots.h"

namespace geosft::test::test_plot_cloud {

namespace {

// Places where the SVG draws gnuplot's filled disc.
int discs(const std::string& svg) {
  return test::occurrences(svg, "xlink:href='#gpPt6'");
}

}  // namespace

TEST_CASE("every point of a cloud is drawn in both views, with rim and colour") {
  const test::PictureFolder folder;
  const at::Tensor points = at::rand({50, 3}, test::generator(1), at::kFloat);
  const at::Tensor values = at::linspace(-1.0, 3.0, 50);
  if (!test::require_picture(plot_cloud(points, values, folder.stem(), "it's a {chair}", "importance"), folder)) return;
  const std::string svg = folder.svg();
  CHECK(discs(svg) == 50 * 2 * 2);
  CHECK(test::occurrences(svg, "importance") == 1);
  CHECK(svg.find("it's a {chair}") != std::string::npos);
  // The ends of viridis: the smallest and the largest value.
  CHECK(svg.find("rgb( 68,   1,  84)") != std::string::npos);
  CHECK(svg.find("rgb(253, 231,  37)") != std::string::npos);
}

TEST_CASE("clouds without extent or without differences are drawn") {
  const test::PictureFolder folder;
  for (const at::Tensor& points :
       {at::zeros({1, 3}), at::full({5, 3}, 7.0), at::tensor({0.0, 0.0, 0.0, 0.0, 9.0, 0.0}).view({2, 3})}) {
    const PlotResult result = plot_cloud(points, at::ones({points.size(0)}), folder.stem(), "flat", "value");
    if (test::require_picture(result, folder)) CHECK(discs(folder.svg()) == 4 * points.size(0));
  }
}

TEST_CASE("the picture does not depend on where the cloud is, how large it is and how its points are ordered") {
  const test::PictureFolder folder;
  const at::Tensor points = at::randint(0, 64, {30, 3}, test::generator(2), at::kDouble);
  const at::Tensor values = at::linspace(0.0, 1.0, 30, at::kDouble);
  if (!test::require_picture(plot_cloud(points, values, folder.stem(), "same", "value"), folder)) return;
  const std::string svg = folder.svg();
  REQUIRE(plot_cloud((points * 4.0 + 8.0).flip(0), values.flip(0), folder.stem(), "same", "value"));
  CHECK(folder.svg() == svg);
}

TEST_CASE("up is up: a point that is higher is drawn higher") {
  const test::PictureFolder folder;
  const at::Tensor points = at::tensor({0.0, 0.0, 0.0, 0.0, 1.0, 0.0}, at::kDouble).view({2, 3});
  if (!test::require_picture(plot_cloud(points, at::arange(2), folder.stem(), "up", "value"), folder)) return;
  // SVG counts from the top, and the lower point is at the lower end of the scale.
  const std::string svg = folder.svg();
  const auto height_of = [&](const std::string& colour) {
    const std::size_t disc = svg.find("color='" + colour, svg.find("gpPt6' transform"));
    const std::string before = svg.substr(0, disc);
    const std::size_t place = before.rfind("translate(");
    return std::stod(before.substr(before.find(',', place) + 1));
  };
  CHECK(height_of("rgb(253, 231,  37)") < height_of("rgb( 68,   1,  84)"));
}

TEST_CASE("a cloud of classes has their colours and a key of their names") {
  const test::PictureFolder folder;
  const at::Tensor points = at::rand({20, 3}, test::generator(3), at::kFloat), red = at::tensor({1.0, 0.0, 0.0});
  const at::Tensor colours = at::cat({red.expand({15, 3}), at::zeros({5, 3})});
  const std::vector<std::pair<std::string, Colour>> key = {{"table: leg, 75.0 %", {1, 0, 0}}, {"top", {0, 0, 0}}};
  if (!test::require_picture(plot_classed_cloud(points, colours, key, folder.stem(), "parts"), folder)) return;
  const std::string svg = folder.svg();
  CHECK(discs(svg) == 20 * 2 * 2 + 2);
  CHECK(test::occurrences(svg, "table: leg, 75.0 %") == 1);
  CHECK(test::occurrences(svg, "rgb(255,   0,   0)") >= 15 * 2);
  CHECK(svg.find("rgb( 68,   1,  84)") == std::string::npos);  // no scale of values
  test::require_error([&] { plot_classed_cloud(points, colours, {}, folder.stem(), "x"); }, {"key"});
  test::require_error([&] { plot_classed_cloud(points, red, key, folder.stem(), "x"); }, {"colours", "[20, 3]"});
}

TEST_CASE("clouds and values that do not fit are refused") {
  const test::PictureFolder folder;
  const auto refuse = [&](const at::Tensor& points, const at::Tensor& values, const std::string& name) {
    test::require_error([&] { plot_cloud(points, values, folder.stem(), "x", "y"); }, {name, "expected"});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refuse(at::zeros({0, 3}), at::zeros({0}), "points");
  refuse(at::zeros({4, 2}), at::zeros({4}), "points");
  refuse(at::zeros({4, 3}), at::zeros({3}), "values");
  refuse(at::zeros({4, 3}), at::zeros({4, 1}), "values");
  refuse(at::full({4, 3}, nan), at::zeros({4}), "points");
  refuse(at::zeros({4, 3}), at::full({4}, nan), "values");
}

}  // namespace geosft::test::test_plot_cloud
