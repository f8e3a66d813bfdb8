// SPDX-License-Identifier: Apache-2.0
// Evaluates part segmentation on a dataset.
#pragma once

#include <functional>
#include <optional>

#include "data/points/part_dataset.h"
#include "models/training/part_metrics.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/invariance.h"
#include "tools/experiment/segmentation.h"

namespace geosft {

struct SegmentScores {
  PartScores parts;
  double loss = 0.0;  // cross entropy over all parts, mean over the labelled points
};

struct SegmentEvaluation {
  SegmentScores scores;                  // of the rotated copies, if any
  std::optional<SegmentScores> upright;  // set if there are rotated copies
  std::optional<Invariance> invariance;  // of the points of rotated copies
  LabelCounts labels{0};                 // of the dataset; copies are not counted
};

// Labels every point of every shape with a part of the shape's class and computes the scores of the points whose part
// is known. Rotations are seeded with (settings.seed, repeat, row); each copy counts as a shape. mask: part_mask of the
// dataset. `progress` receives the number of clouds done, including copies. Throws an error for a dataset without
// labelled points.
SegmentEvaluation evaluate_parts(PointSegmenter& model, const PointDataset& dataset, const SegmentSettings& settings,
                                 const at::Tensor& mask, Rotation rotation, int64_t repeats,
                                 const std::function<void(int64_t)>& progress = {});

}  // namespace geosft
