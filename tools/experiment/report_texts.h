// SPDX-License-Identifier: Apache-2.0
// Formats parts of reports.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/ops/polynomial_degree.h"
#include "models/training/metrics.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/run_folder.h"

namespace geosft {

// Formats 0.815 as "81.5 %".
std::string percent(double share);

// Returns the 95 % interval (Wilson's) of a share that was measured on `count` items.
std::pair<double, double> share_interval(double share, int64_t count);

// Returns "expected calibration error 0.043 (15 bins)\n", of reliability_bins; empty without bins.
std::string calibration_text(const std::vector<ReliabilityBin>& bins);

// Returns the same as a sentence that says what it is, for a page that shows the bins.
std::string calibration_note(const std::vector<ReliabilityBin>& bins);

// Returns the bins that have predictions as a table: confidence, count, mean confidence, accuracy and their difference.
std::vector<std::vector<std::string>> reliability_table(const std::vector<ReliabilityBin>& bins);

// Formats a coordinate with the digits that tell the points of a cloud of this extent apart: 6 to 15.
std::string coordinate_text(double value, double extent);

// Prints a line to stderr if the picture could not be drawn, once for each reason.
void warn_unless_drawn(const PlotResult& result);
// Throws DataError if a picture that was asked for could not be drawn.
void require_drawn(const PlotResult& result);

// Calls evaluate(progress), with a progress bar of `total` steps on stderr, and returns the steps per second. Throws
// Interrupted from progress(done) if a signal arrives meanwhile.
double evaluation_rate(int64_t total,
                       const std::function<void(const std::function<void(int64_t done)>& progress)>& evaluate);

// Draws the learning curves of a run.
void draw_curves(const RunFolder& folder, const ScoreStyle& style = {});

// Describes a shape file in a few lines, or as an object: {"file", "vertices", "triangles", "surface_area", "low",
// "high", "warnings"} of a mesh, {"file", "points", "normals", "low", "high", "warnings"} of a cloud, with low and high
// the corners of its bounding box; both have, for points with labels, "labels": [{"label", "points"}, …], with label
// -1 for points without one. `columns` as in ShapeReadOptions. Throws DataError.
std::string shape_file_text(const std::filesystem::path& file, const std::string& columns = {});
nlohmann::json shape_file_json(const std::filesystem::path& file, const std::string& columns = {});

// Returns what info --json tells about a run: {"run", "config", "classes", "parameters"}, where `config` is TOML.
nlohmann::json run_json(const std::filesystem::path& run, const std::string& config,
                        const std::vector<std::string>& class_names, int64_t parameters);

// Formats a table for a terminal: one line per row, the first of which is the heading; names in the first column,
// counts in the second.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

// Formats JSON on one line, whatever bytes the names in it have.
std::string json_line(const nlohmann::json& json);

// Returns [{"bound", "degree", "error_bound"} or {"bound", "exact": true}], one element per layer.
nlohmann::json attention_json(const std::vector<PolynomialDegree>& degrees);

// Returns one line per layer.
std::string attention_text(const std::vector<PolynomialDegree>& degrees);

}  // namespace geosft
