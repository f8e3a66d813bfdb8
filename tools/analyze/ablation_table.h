// SPDX-License-Identifier: Apache-2.0
// Variants of a configuration and their results.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/classify/settings.h"
#include "tools/experiment/gnuplot.h"
#include "tools/graph/result_table.h"

namespace geosft {

struct Ablation {
  std::string name;  // "as configured", or its changes
  ClassifySettings settings;
};

// The unchanged settings, then a variant for each of `changes`: "key=value", or several joined by +. Throws UsageError
// for an unknown key, an invalid value, or an entry of another form.
std::vector<Ablation> ablations(const ClassifySettings& settings, const std::vector<std::string>& changes);

// The paper's: the other score and probability, each and both; a quarter of the sample and twice as much, where the
// clouds have so many points; the samplers that are not configured (two-way softplus, hard, Gumbel, with replacement,
// without noise). Throws UsageError for a model whose attention does not sample.
std::vector<std::string> usual_changes(const ClassifySettings& settings);

// What is varied, by column: score, probability, k (tokens that a layer samples of a cloud), sampler.
std::vector<std::pair<std::string, std::string>> ablation_labels(const ClassifySettings& settings);

// A bar chart of the accuracy of each row with its deviation; the first row is drawn as a line.
PlotResult plot_ablations(const std::vector<ResultRow>& rows, const std::string& title,
                          const std::filesystem::path& stem);

}  // namespace geosft
