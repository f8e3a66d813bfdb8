// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <limits>

#include "tests/support.h"
#include "tests/tools/experiment/pictures.h"
#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/plots.h"

#include "tests/temporary_path.h"

namespace geosft::test::test_plot_learning_curves {

namespace {

MetricsRow row(int64_t step, const std::string& split, double accuracy) {
  return {step, 0, split, 1.0 / double(step), accuracy, 1e-3, 1.0, 100.0};
}

// Returns the picture of five steps of training and of another split, whose third is its best; empty without gnuplot.
std::string curves_beside(const std::string& split) {
  const TemporaryFile file("geosft_test_learning_curves");
  const test::PictureFolder folder;
  MetricsWriter writer(file.path);
  for (int64_t step = 1; step <= 5; ++step) {
    writer.append(row(step, "train", 0.1 * double(step)));
    writer.append(row(step, split, step == 3 ? 0.4567 : 0.2));
  }
  const bool drawn = test::require_picture(plot_learning_curves(file.path, folder.stem()), folder);
  return drawn ? folder.svg() : "";
}

}  // namespace

TEST_CASE("learning curves show both parts and the best accuracy on the validation split") {
  const std::string svg = curves_beside("validation");
  if (svg.empty()) return;
  CHECK(svg.find("best of the validation split 45.7 at step 3") != std::string::npos);
  CHECK(svg.find(">training<") != std::string::npos);
  CHECK(svg.find(">validation split<") != std::string::npos);
  CHECK(svg.find("test set") == std::string::npos);
}

TEST_CASE("a monitored test set is called what it is, and its best is not picked") {
  const std::string svg = curves_beside("test");
  if (svg.empty()) return;
  CHECK(svg.find("test set at the end 20.0") != std::string::npos);
  CHECK(svg.find(">test set<") != std::string::npos);
  CHECK(svg.find("validation split") == std::string::npos);
  CHECK(svg.find("45.7") == std::string::npos);
}

TEST_CASE("one part alone, many rows and a loss that is not finite are drawn") {
  const TemporaryFile file("geosft_test_learning_curves");
  const test::PictureFolder folder;
  MetricsWriter writer(file.path);
  for (int64_t step = 1; step <= 300; ++step) {
    MetricsRow next = row(step, "train", 0.5);
    if (step == 100) next.loss = std::numeric_limits<double>::quiet_NaN();
    if (step == 200) next.loss = std::numeric_limits<double>::infinity();
    writer.append(next);
  }
  if (!test::require_picture(plot_learning_curves(file.path, folder.stem()), folder)) return;
  CHECK(folder.svg().find("validation split") == std::string::npos);
}

TEST_CASE("without a row there is nothing to draw, and a broken file is an error") {
  const TemporaryFile file("geosft_test_learning_curves");
  const test::PictureFolder folder;
  const MetricsWriter writer(file.path);
  const PlotResult result = plot_learning_curves(file.path, folder.stem());
  CHECK_FALSE(result);
  CHECK(result.reason.find("no metrics yet") != std::string::npos);
  std::ofstream(file.path) << "nonsense\n";
  test::require_error([&] { plot_learning_curves(file.path, folder.stem()); }, {file.path.string() + ":1"});
}

TEST_CASE("learning curves without a score that is a number are not drawn, and the reason is said") {
  const TemporaryFile file("geosft_test_learning_curves");
  const test::PictureFolder folder;
  MetricsWriter writer(file.path);
  for (int64_t step = 1; step <= 2; ++step) {
    writer.append(row(step, "validation", std::numeric_limits<double>::quiet_NaN()));
  }
  const PlotResult result = plot_learning_curves(file.path, folder.stem());
  CHECK_FALSE(result.drawn);
  CHECK_THAT(result.reason, Catch::Contains("no step with a loss and a score (accuracy) that are numbers: a score is"));
  const test::PictureFolder other;
  const TemporaryFile training_alone("geosft_test_learning_curves_of_training");
  MetricsWriter(training_alone.path).append(row(1, "train", std::numeric_limits<double>::quiet_NaN()));
  CHECK_THAT(plot_learning_curves(training_alone.path, other.stem()).reason,
             Catch::EndsWith("that are numbers: the training split alone has rows"));
}

}  // namespace geosft::test::test_plot_learning_curves
