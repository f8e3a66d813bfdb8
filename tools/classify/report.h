// SPDX-License-Identifier: Apache-2.0
// Evaluations as a person or a program reads them.
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
  int64_t count = 0;  // clouds of the split
  Rotation rotation = Rotation::none;
  int64_t repeats = 1;
  ClassificationMetrics metrics;
  std::optional<Invariance> invariance;  // of the rotated copies
  double clouds_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};  // of layers with polynomial attention
};

// Evaluates a split ("train" or "test") of the dataset that the model's settings name, under `repeats` rotations a
// cloud. Throws Interrupted when a signal comes in the middle.
EvaluationReport evaluate(RunModel& trained, const std::string& split, Rotation rotation, int64_t repeats);

nlohmann::json evaluation_json(const EvaluationReport& report);
// Overall figures, then a table with a line a class.
std::string evaluation_text(const EvaluationReport& report, const std::vector<std::string>& class_names);

// A picture in the RUN folder; a line on stderr where gnuplot is missing.
void draw_confusion(const EvaluationReport& report, const std::vector<std::string>& class_names,
                    const RunFolder& folder);

}  // namespace geosft
