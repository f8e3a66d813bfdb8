// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/sampling_snapshot.h"

#include <catch2/catch.hpp>

#include "tests/tools/classify/small_classifier.h"

namespace geosft::test::test_sampling_snapshot {
namespace {

SamplingSnapshot snapshot(int64_t epochs) {
  const ClassifySettings settings = small_settings();
  RunModel trained{settings, {"a", "b", "c"}, small_model(settings)};
  trained.model->eval();
  return sampling_snapshot(trained, random_clouds().get(0), epochs, 20);
}

}  // namespace

TEST_CASE("a snapshot counts how often points are chosen, and how well they cover the cloud") {
  const SamplingSnapshot taken = snapshot(4);
  CHECK(taken.points.size(0) == 40);
  // 16 of 40 points by score in each of 20 draws.
  CHECK(taken.frequency.sum().item<double>() == Approx(16));
  CHECK(taken.frequency.max().item<double>() <= 1);
  CHECK(taken.covered > 0);
  CHECK(taken.by_chance > 0);
  CHECK(taken.covered < 2);
  CHECK_THAT(snapshot_text(taken), Catch::Contains("nearest chosen point"));
}

TEST_CASE("snapshots become rows and curves") {
  const std::vector<SamplingSnapshot> taken = {snapshot(0), snapshot(3)};
  const std::string csv = snapshots_csv(taken);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 2 * 40);
  CHECK(csv.find("\n3,39,") != std::string::npos);
  const std::vector<CurvePanel> panels = snapshot_panels(taken);
  REQUIRE(panels.size() == 2);
  for (const Curve& histogram : panels[0].curves) {
    double points = 0;
    for (const double count : histogram.y) points += count;
    CHECK(points == 40);
  }
  CHECK(panels[1].curves[0].x == std::vector<double>{0, 3});
}

}  // namespace geosft::test::test_sampling_snapshot
