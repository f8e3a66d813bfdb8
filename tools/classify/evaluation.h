// SPDX-License-Identifier: Apache-2.0
// Logits of a whole dataset, and what follows from them.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "tools/classify/clouds.h"
#include "tools/experiment/invariance.h"

namespace geosft {

struct DatasetLogits {
  at::Tensor logits;  // [n, classes], averaged over the votes
  at::Tensor labels;  // int64 [n]
  at::Tensor
      choices;  // int64 [n]: equal for two evaluations of a cloud that chose the same order and samples in all votes
};

// Logits of every cloud under rotations that follow from (settings.seed, repeat, row). `progress` is told the clouds
// done.
DatasetLogits dataset_logits(PointClassifier& model, const PointDataset& dataset, const ClassifySettings& settings,
                             Rotation rotation, int64_t repeat, const std::function<void(int64_t)>& progress = {});

struct ClassificationMetrics {
  at::Tensor confusion;  // int64 [classes, classes], rows: true class
  double accuracy = 0.0, mean_class_accuracy = 0.0, loss = 0.0;
};

// Several evaluations of the same dataset count as one of that many clouds.
ClassificationMetrics classification_metrics(const std::vector<DatasetLogits>& evaluations);

// How far the logits of moved copies are from those of the originals.
Invariance invariance(const DatasetLogits& original, const std::vector<DatasetLogits>& moved);

}  // namespace geosft
