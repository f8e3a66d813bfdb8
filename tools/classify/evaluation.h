// SPDX-License-Identifier: Apache-2.0
// Logits of a whole dataset, and what follows from them.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "tools/classify/clouds.h"

namespace geosft {

// The same batch with what a model computes from on `device`; ptr stays on the CPU, see offsets_on.
PointBatch on_device(const PointBatch& batch, at::Device device);

struct DatasetLogits {
  at::Tensor logits;   // [n, classes], averaged over the votes
  at::Tensor labels;   // int64 [n]
  at::Tensor choices;  // int64 [n]: equal for two evaluations of a cloud that chose the same order and samples
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
struct Invariance {
  double max_logit_difference = 0.0;      // of all copies
  double max_unflipped_difference = 0.0;  // of the copies where no choice flipped
  double flipped_share = 0.0;             // copies whose order or samples were chosen differently
  double prediction_agreement = 1.0;      // of all copies
};
Invariance invariance(const DatasetLogits& original, const std::vector<DatasetLogits>& moved);

}  // namespace geosft
