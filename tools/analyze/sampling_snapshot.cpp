// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/sampling_snapshot.h"

#include <ATen/core/grad_mode.h>

#include <sstream>

#include "data/seeds.h"
#include "geometry/augment.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

constexpr int64_t histogram_bins = 24;

double mean_distance_to(const at::Tensor& points, const at::Tensor& rows) {
  constexpr int64_t by_differences = 2;  // matrix products give distances of about 1e-4 from a point to itself
  return at::cdist(points, points.index_select(0, rows), 2, by_differences).amin(1).mean().item<double>();
}

Curve histogram(const SamplingSnapshot& snapshot, const ValueScale& scale) {
  const at::Tensor counts = at::histc(snapshot.importance, histogram_bins, scale.low, scale.high);
  const double width = (scale.high - scale.low) / static_cast<double>(histogram_bins);
  Curve curve{"after " + std::to_string(snapshot.epochs) + " epochs", {}, {}};
  for (int64_t bin = 0; bin < histogram_bins; ++bin) {
    curve.x.push_back(scale.low + (static_cast<double>(bin) + 0.5) * width);
    curve.y.push_back(counts[bin].item<double>());
  }
  return curve;
}

}  // namespace

SamplingSnapshot sampling_snapshot(RunModel& trained, const Shape& shape, int64_t epochs, int64_t num_samples) {
  at::NoGradGuard guard;
  const ShapeExplanation found = explain_shape(trained, shape, Rotation::none, trained.settings.seed);
  const int64_t n = found.seen.points.size(0);
  SamplingSnapshot snapshot{epochs, found.seen.points, found.importance, at::zeros({n})};
  for (int64_t i = 0; i < num_samples; ++i) {
    SamplingContext context = SamplingContext::seeded(static_cast<uint64_t>(i));
    const Pairs pairs = sample_tokens(snapshot.importance, std::nullopt, trained.model->options.head_sampler, context);
    snapshot.frequency.index_add_(0, pairs.top, at::ones({pairs.top.size(0)}));
    const double share = 1.0 / static_cast<double>(num_samples);
    snapshot.covered += share * mean_distance_to(snapshot.points, pairs.top);
    const at::Tensor chance = random_subset(n, pairs.top.size(0), make_generator(static_cast<uint64_t>(i)));
    snapshot.by_chance += share * mean_distance_to(snapshot.points, chance);
  }
  snapshot.frequency /= static_cast<double>(num_samples);
  return snapshot;
}

std::string snapshot_text(const SamplingSnapshot& snapshot) {
  const ValueScale scale = scale_of(snapshot.importance);
  std::ostringstream text;
  text << "scores from " << scale.low << " to " << scale.high << "; mean distance to the nearest chosen point "
       << snapshot.covered << ", to as many random ones " << snapshot.by_chance;
  return text.str();
}

std::string snapshots_csv(const std::vector<SamplingSnapshot>& snapshots) {
  std::string text = "epochs,point,x,y,z,importance,frequency\n";
  for (const SamplingSnapshot& one : snapshots) {
    const at::Tensor rows =
        at::cat({one.points, one.importance.unsqueeze(1), one.frequency.unsqueeze(1)}, 1).to(at::kFloat).contiguous();
    const auto row = rows.accessor<float, 2>();
    for (int64_t i = 0; i < rows.size(0); ++i) {
      text += std::to_string(one.epochs) + "," + std::to_string(i);
      for (int64_t c = 0; c < rows.size(1); ++c) text += "," + shortest_text(static_cast<double>(row[i][c]));
      text += "\n";
    }
  }
  return text;
}

std::vector<CurvePanel> snapshot_panels(const std::vector<SamplingSnapshot>& snapshots) {
  std::vector<at::Tensor> all;
  all.reserve(snapshots.size());
  for (const SamplingSnapshot& one : snapshots) all.push_back(one.importance);
  const ValueScale scale = scale_of(at::cat(all));
  CurvePanel histograms{{"importance of the points", "score", "points"}, {}};
  Curve covered{"chosen by the sampler", {}, {}}, by_chance{"as many at random", {}, {}};
  for (const SamplingSnapshot& one : snapshots) {
    histograms.curves.push_back(histogram(one, scale));
    for (auto& [curve, value] : {std::pair{&covered, one.covered}, std::pair{&by_chance, one.by_chance}}) {
      curve->x.push_back(static_cast<double>(one.epochs));
      curve->y.push_back(value);
    }
  }
  return {histograms, {{"coverage", "epochs", "mean distance to the nearest chosen point"}, {covered, by_chance}}};
}

}  // namespace geosft
