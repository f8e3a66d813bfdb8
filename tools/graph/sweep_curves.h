// SPDX-License-Identifier: Apache-2.0
// Compares the learning curves of the configurations of a sweep in one picture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/plot_curves.h"

namespace geosft {

// Returns the score of a configuration by epoch, the mean over the metrics files of its runs. The split is the held-out
// one if every file has rows of it, otherwise the monitored test set, otherwise the training set. An epoch counts if
// every run has a score for it; a curve without such an epoch has no points.
Curve mean_learning_curve(const std::string& name, const std::vector<std::filesystem::path>& metrics);

// Returns the best value up to each point: the cumulative maximum, or the minimum if lower is better.
Curve best_so_far(const Curve& curve, bool lower_is_better);

// Writes stem.csv (curve, epoch and score) and draws stem.png and stem.svg: the scores by epoch on the left, the best
// so far on the right. Curves without points are left out.
PlotResult leave_learning_curves(const std::vector<Curve>& curves, const ScoreStyle& style,
                                 const std::filesystem::path& stem);

}  // namespace geosft
