// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/sampling_snapshot.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "data/seeds.h"
#include "geometry/augment.h"
#include "tests/tools/classify/small_classifier.h"

namespace geosft::test::test_sampling_snapshot {
namespace {

RunModel small_run() {
  const ClassifySettings settings = small_settings();
  RunModel trained{{{"a", "b", "c"}}, settings, small_model(settings)};
  trained.model->eval();
  return trained;
}

SamplingSnapshot snapshot(int64_t epochs) {
  RunModel trained = small_run();
  return sampling_snapshot(trained, random_clouds().get(0), epochs, 20);
}

// The mean over all points of the distance to the nearest of those in `rows`.
double slow_distance_to(const at::Tensor& points, const at::Tensor& rows) {
  double sum = 0;
  for (int64_t i = 0; i < points.size(0); ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < rows.size(0); ++j) {
      nearest = std::min(nearest, (points[i] - points[rows[j].item<int64_t>()]).norm().item<double>());
    }
    sum += nearest;
  }
  return sum / static_cast<double>(points.size(0));
}

}  // namespace

TEST_CASE("a snapshot counts how often points are chosen, and how well they cover the cloud") {
  const SamplingSnapshot taken = snapshot(4);
  CHECK(taken.points.size(0) == 40);
  // 16 of 40 points by score in each of 20 samples.
  CHECK(taken.frequency.sum().item<double>() == Approx(16));
  CHECK(taken.frequency.max().item<double>() <= 1);
  // The same 20 samples, counted and measured point by point.
  const at::NoGradGuard guard;
  const SamplerOptions options = small_run().model->options.head_sampler;
  std::vector<double> chosen(40);
  double covered = 0, by_chance = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    SamplingContext context = SamplingContext::seeded(i);
    const at::Tensor top = sample_tokens(taken.importance, std::nullopt, options, context).top;
    REQUIRE(top.size(0) == 16);
    for (int64_t j = 0; j < 16; ++j) chosen[static_cast<size_t>(top[j].item<int64_t>())] += 1.0 / 20;
    covered += slow_distance_to(taken.points, top) / 20;
    by_chance += slow_distance_to(taken.points, random_subset(40, 16, make_generator(i))) / 20;
  }
  for (size_t i = 0; i < 40; ++i) {
    CHECK(taken.frequency[static_cast<int64_t>(i)].item<double>() == Approx(chosen[i]).margin(1e-6));
  }
  CHECK(taken.covered == Approx(covered).epsilon(1e-5));
  CHECK(taken.by_chance == Approx(by_chance).epsilon(1e-5));
  std::ostringstream text;
  text << "scores from " << taken.importance.min().item<double>() << " to " << taken.importance.max().item<double>()
       << "; mean distance to the nearest chosen point " << taken.covered << ", to as many random ones "
       << taken.by_chance;
  CHECK(snapshot_text(taken) == text.str());
}

TEST_CASE("snapshots become rows and curves") {
  const std::vector<SamplingSnapshot> taken = {snapshot(0), snapshot(3)};
  const std::string csv = snapshots_csv(taken);
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "epochs,point,x,y,z,importance,frequency");
  for (const SamplingSnapshot& one : taken) {
    for (int64_t point = 0; point < 40; ++point) {
      REQUIRE(std::getline(lines, line));
      std::istringstream fields(line);
      std::vector<double> numbers;
      for (std::string field; std::getline(fields, field, ',');) numbers.push_back(std::stod(field));
      std::vector<double> expected{static_cast<double>(one.epochs), static_cast<double>(point)};
      for (int64_t c = 0; c < 3; ++c) expected.push_back(one.points[point][c].item<double>());
      expected.push_back(one.importance[point].item<double>());
      expected.push_back(one.frequency[point].item<double>());
      CHECK(numbers == expected);
    }
  }
  CHECK_FALSE(std::getline(lines, line));
  const std::vector<CurvePanel> panels = snapshot_panels(taken);
  REQUIRE(panels.size() == 2);
  // Both snapshots are of the same scores: 24 intervals of equal width from the smallest of them to the largest.
  const double low = taken[0].importance.min().item<double>(), high = taken[0].importance.max().item<double>();
  const double width = (high - low) / 24;
  for (const Curve& histogram : panels[0].curves) {
    REQUIRE(histogram.y.size() == 24);
    std::vector<double> counts(24);
    for (int64_t point = 0; point < 40; ++point) {
      const double place = (taken[0].importance[point].item<double>() - low) / width;
      ++counts[static_cast<size_t>(std::min(place, 23.0))];
    }
    CHECK(histogram.y == counts);
    for (size_t bin = 0; bin < 24; ++bin)
      CHECK(histogram.x[bin] == Approx(low + (static_cast<double>(bin) + 0.5) * width));
  }
  CHECK(panels[1].curves[0].x == std::vector<double>{0, 3});
  CHECK(panels[1].curves[0].y == std::vector<double>{taken[0].covered, taken[1].covered});
  CHECK(panels[1].curves[1].y == std::vector<double>{taken[0].by_chance, taken[1].by_chance});
}

}  // namespace geosft::test::test_sampling_snapshot
