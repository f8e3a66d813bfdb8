// SPDX-License-Identifier: Apache-2.0
// Evaluates trained classifiers and formats the results as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/classify/evaluation.h"
#include "tools/classify/run_model.h"
#include "tools/experiment/run_folder.h"

namespace geosft {

struct EvaluationReport {
  std::string split;
  int64_t count = 0;  // clouds in the split
  Rotation rotation = Rotation::none;
  int64_t repeats = 1;
  ClassificationMetrics metrics;
  std::optional<Invariance> invariance;  // of the rotated copies
  double clouds_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};  // one per layer with polynomial attention
};

// Evaluates a split ("train" or "test") of the dataset in the model's settings, with `repeats` rotations per cloud.
// Throws Interrupted if a signal arrives meanwhile.
EvaluationReport evaluate(RunModel& trained, const std::string& split, Rotation rotation, int64_t repeats);

nlohmann::json evaluation_json(const EvaluationReport& report);
// Returns overall metrics, then a table with one line per class.
std::string evaluation_text(const EvaluationReport& report, const std::vector<std::string>& class_names);

// Draws a picture in the RUN folder; prints a line to stderr if gnuplot is missing.
void draw_confusion(const EvaluationReport& report, const std::vector<std::string>& class_names,
                    const RunFolder& folder);

}  // namespace geosft
