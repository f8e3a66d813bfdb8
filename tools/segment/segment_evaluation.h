// SPDX-License-Identifier: Apache-2.0
// How well parts are found in a whole dataset.
#pragma once

#include <functional>
#include <optional>

#include "data/points/part_dataset.h"
#include "models/training/part_metrics.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/invariance.h"
#include "tools/segment/segmentation.h"

namespace geosft {

struct SegmentScores {
  PartScores parts;
  double loss = 0.0;  // cross entropy over all parts, the mean over the points
};

struct SegmentEvaluation {
  SegmentScores scores;                  // of the rotated copies where there are some
  std::optional<SegmentScores> upright;  // beside rotated copies
  std::optional<Invariance> invariance;  // of their points
};

// Every point of every shape is labelled with a part of the shape's class and counted. Rotations follow from
// (settings.seed, repeat, row); several copies count as that many shapes. mask: part_mask of the dataset. `progress` is
// told the clouds done, copies included. A dataset without shapes is an error.
SegmentEvaluation evaluate_parts(PointSegmenter& model, const PointDataset& dataset, const SegmentSettings& settings,
                                 const at::Tensor& mask, Rotation rotation, int64_t repeats,
                                 const std::function<void(int64_t)>& progress = {});

}  // namespace geosft
