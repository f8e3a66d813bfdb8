// SPDX-License-Identifier: Apache-2.0
// Creates variants of a configuration for an ablation study, and plots their results.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/experiment/classify_settings.h"
#include "tools/experiment/gnuplot.h"
#include "tools/experiment/result_table.h"

namespace geosft {

struct Ablation {
  std::string name;  // "as configured", or its changes
  ClassifySettings settings;
};

// Returns the unchanged settings, then one variant per element of `changes`: "key=value", or several joined by +.
// Throws UsageError for an unknown key, an invalid value, or an entry of another form.
std::vector<Ablation> ablations(const ClassifySettings& settings, const std::vector<std::string>& changes);

// Returns the paper's ablations: the other score, the other probability, and both; a quarter and twice the sample size,
// if the clouds have enough points; the samplers that are not configured (two-way softplus, hard, Gumbel, with
// replacement, without noise). Throws UsageError for a model whose attention does not sample.
std::vector<std::string> usual_changes(const ClassifySettings& settings);

// Returns the varied settings by column: score, probability, k (tokens that a layer samples per cloud), sampler.
std::vector<std::pair<std::string, std::string>> ablation_labels(const ClassifySettings& settings);

// Draws a bar chart of the accuracy of each row with its standard deviation; the first row is drawn as a line.
PlotResult plot_ablations(const std::vector<ResultRow>& rows, const std::string& title,
                          const std::filesystem::path& stem);

}  // namespace geosft
