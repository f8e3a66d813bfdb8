// SPDX-License-Identifier: Apache-2.0
// Pieces of reports.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "models/ops/polynomial_degree.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/run_folder.h"

namespace geosft {

// 0.815 as "81.5 %".
std::string percent(double share);

// A line on stderr where a picture could not be drawn.
void warn_unless_drawn(const PlotResult& result);

// The learning curves of a run.
void draw_curves(const RunFolder& folder, const ScoreStyle& style = {});

// What a file with a shape holds, in a few lines. Throws DataError.
std::string shape_file_text(const std::filesystem::path& file);

// [{"bound", "degree", "error_bound"} or {"bound", "exact": true}], one for each of worst_degrees.
nlohmann::json attention_json(const std::vector<PolynomialDegree>& degrees);

// A line for each; empty for none.
std::string attention_text(const std::vector<PolynomialDegree>& degrees);

}  // namespace geosft
