// SPDX-License-Identifier: Apache-2.0
// Evaluates trained segmentation models and formats the results as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/ops/polynomial_degree.h"
#include "tools/segment/segment_evaluation.h"

namespace geosft {

struct SegmentReport {
  std::string split;
  int64_t count = 0;  // clouds in the split
  Rotation rotation = Rotation::none;
  int64_t repeats = 1;
  SegmentEvaluation evaluation;
  double clouds_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};  // one per layer with polynomial attention
};

// Parses "train", "validation" or "test".
PartSplit part_split_of(const std::string& name);

// Evaluates a split of the dataset in the settings, with `repeats` rotations per cloud and progress on stderr. Throws
// Interrupted if a signal arrives meanwhile, DataError if the dataset has other classes or parts than the model.
SegmentReport evaluate(SegmentRun& trained, const std::string& split, Rotation rotation, int64_t repeats);

nlohmann::json segment_json(const SegmentReport& report, const std::vector<std::string>& class_names);
// Returns overall metrics, then a table with one line per class.
std::string segment_text(const SegmentReport& report, const std::vector<std::string>& class_names);

}  // namespace geosft
