// SPDX-License-Identifier: Apache-2.0
// Computes the logits of a dataset, and metrics from them.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "tools/experiment/classification.h"
#include "tools/experiment/invariance.h"

namespace geosft {

struct DatasetLogits {
  at::Tensor logits;   // [n, classes], averaged over the votes
  at::Tensor labels;   // int64 [n]
  at::Tensor choices;  // int64 [n]: equal for two evaluations of a cloud with the same order and samples in all votes
};

// Returns the logits of every cloud, rotated with a seed from (settings.seed, repeat, row). `progress` receives the
// number of clouds done.
DatasetLogits dataset_logits(PointClassifier& model, const PointDataset& dataset, const ClassifySettings& settings,
                             Rotation rotation, int64_t repeat, const std::function<void(int64_t)>& progress = {});

struct ClassificationMetrics {
  at::Tensor confusion;  // int64 [classes, classes], rows: true class
  double accuracy = 0.0, mean_class_accuracy = 0.0, loss = 0.0;
};

// Pools several evaluations of the same dataset.
ClassificationMetrics classification_metrics(const std::vector<DatasetLogits>& evaluations);

// Compares the logits of transformed copies with those of the originals.
Invariance invariance(const DatasetLogits& original, const std::vector<DatasetLogits>& moved);

}  // namespace geosft
