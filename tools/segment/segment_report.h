// SPDX-License-Identifier: Apache-2.0
// Evaluations as a person or a program reads them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/ops/polynomial_degree.h"
#include "tools/segment/segment_evaluation.h"

namespace geosft {

struct SegmentReport {
  std::string split;
  int64_t count = 0;  // clouds of the split
  Rotation rotation = Rotation::none;
  int64_t repeats = 1;
  SegmentEvaluation evaluation;
  double clouds_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};  // of layers with polynomial attention
};

// "train", "validation" or "test".
PartSplit part_split_of(const std::string& name);

// Evaluates a split of the dataset that the settings name, under `repeats` rotations a cloud, with progress on stderr.
// Throws Interrupted when a signal comes in the middle, DataError where the dataset has other classes or parts than the
// model.
SegmentReport evaluate(SegmentRun& trained, const std::string& split, Rotation rotation, int64_t repeats);

nlohmann::json segment_json(const SegmentReport& report, const std::vector<std::string>& class_names);
// Overall figures, then a table with a line a class.
std::string segment_text(const SegmentReport& report, const std::vector<std::string>& class_names);

}  // namespace geosft
