// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/sweep_curves.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "data/atomic_file.h"

namespace geosft {
namespace {

using Scores = std::map<int64_t, double>;  // by epoch

Scores scores_of(const std::vector<MetricsRow>& rows, const std::string& split) {
  Scores scores;
  for (const MetricsRow& row : rows) {
    if (row.split == split && !std::isnan(row.score)) scores[row.epoch] = row.score;
  }
  return scores;
}

}  // namespace

Curve mean_learning_curve(const std::string& name, const std::vector<std::filesystem::path>& metrics) {
  std::vector<std::vector<MetricsRow>> runs;
  for (const std::filesystem::path& file : metrics) runs.push_back(read_metrics(file));
  Curve curve{name, {}, {}};
  for (const char* split : {"validation", "test", "train"}) {
    std::map<int64_t, std::vector<double>> by_epoch;
    for (const std::vector<MetricsRow>& rows : runs) {
      for (const auto& [epoch, score] : scores_of(rows, split)) by_epoch[epoch].push_back(score);
    }
    for (const auto& [epoch, scores] : by_epoch) {
      if (scores.size() < runs.size()) continue;
      double sum = 0;
      for (const double score : scores) sum += score;
      curve.x.push_back(static_cast<double>(epoch));
      curve.y.push_back(sum / static_cast<double>(scores.size()));
    }
    if (!curve.x.empty()) break;
  }
  return curve;
}

Curve best_so_far(const Curve& curve, bool lower_is_better) {
  Curve best = curve;
  for (size_t i = 1; i < best.y.size(); ++i) {
    best.y[i] = lower_is_better ? std::min(best.y[i], best.y[i - 1]) : std::max(best.y[i], best.y[i - 1]);
  }
  return best;
}

PlotResult leave_learning_curves(const std::vector<Curve>& curves, const ScoreStyle& style,
                                 const std::filesystem::path& stem) {
  std::vector<Curve> drawn, best;
  for (const Curve& curve : curves) {
    if (curve.x.empty()) continue;
    drawn.push_back(curve);
    best.push_back(best_so_far(curve, style.lower_is_better));
  }
  if (drawn.empty()) return {false, "no epoch has a score in every run"};
  write_file_atomically(std::filesystem::path(stem) += ".csv", curves_csv("epoch", style.name, drawn));
  return plot_curves({{{"by epoch", "epoch", style.name}, drawn}, {{"best so far", "epoch", style.name}, best}}, stem);
}

}  // namespace geosft
