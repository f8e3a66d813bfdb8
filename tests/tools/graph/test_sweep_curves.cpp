// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/sweep_curves.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/pictures.h"

namespace geosft::test::test_sweep_curves {
namespace {

// Writes scores by epoch, of the split and of training.
std::filesystem::path metrics(const TemporaryFolder& folder, const std::string& name, const std::string& split,
                              const std::vector<double>& scores) {
  MetricsWriter writer(folder / name);
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto epoch = static_cast<int64_t>(i) + 1;
    writer.append({.step = 10 * epoch, .epoch = epoch, .split = "train", .score = 0.125});
    if (split != "train") writer.append({.step = 10 * epoch, .epoch = epoch, .split = split, .score = scores[i]});
  }
  return folder / name;
}

}  // namespace

TEST_CASE("the learning curve of a configuration is the mean over its runs", "[sweep_curves]") {
  const TemporaryFolder folder;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto a = metrics(folder, "a.csv", "validation", {0.25, 0.5, 0.75}),
             b = metrics(folder, "b.csv", "validation", {0.5, nan, 0.25, 1.0});
  const Curve curve = mean_learning_curve("both", {a, b});
  REQUIRE(curve.name == "both");
  REQUIRE(curve.x == std::vector<double>{1, 3});
  REQUIRE(curve.y == std::vector<double>{0.375, 0.5});
  REQUIRE(mean_learning_curve("a", {a}).y == std::vector<double>{0.25, 0.5, 0.75});
  const auto trained = metrics(folder, "c.csv", "train", {0, 0});
  REQUIRE(mean_learning_curve("c", {trained}).y == std::vector<double>{0.125, 0.125});
  REQUIRE(mean_learning_curve("a and c", {a, trained}).x == std::vector<double>{1, 2});
  REQUIRE(mean_learning_curve("test", {metrics(folder, "d.csv", "test", {0.5})}).y == std::vector<double>{0.5});
  REQUIRE(mean_learning_curve("none", {}).x.empty());
}

TEST_CASE("the best so far rises, or falls where lower is better", "[sweep_curves]") {
  const Curve curve{"c", {1, 2, 3, 4}, {2, 1, 3, 0}};
  REQUIRE(best_so_far(curve, false).y == std::vector<double>{2, 2, 3, 3});
  REQUIRE(best_so_far(curve, true).y == std::vector<double>{2, 1, 1, 0});
  REQUIRE(best_so_far({"none", {}, {}}, true).y.empty());
}

TEST_CASE("curves are left as a table and as a picture", "[sweep_curves]") {
  const PictureFolder folder;
  const std::vector<Curve> curves = {{"maxout", {1, 2}, {0.5, 0.25}}, {"empty", {}, {}}, {"dot", {1, 2}, {0.25, 0.75}}};
  const PlotResult drawn = leave_learning_curves(curves, {.name = "accuracy"}, folder.stem());
  const std::string table = read_text(std::filesystem::path(folder.stem()) += ".csv");
  REQUIRE(table.find("curve,epoch,accuracy") == 0);
  REQUIRE(table.find("dot,2,0.75") != std::string::npos);
  REQUIRE(table.find("empty") == std::string::npos);
  REQUIRE_FALSE(leave_learning_curves({{"empty", {}, {}}}, {}, folder.stem()).drawn);
  if (!has_gnuplot() || !require_picture(drawn, folder)) return;
  REQUIRE(folder.svg().find("best so far") != std::string::npos);
}

}  // namespace geosft::test::test_sweep_curves
