// SPDX-License-Identifier: Apache-2.0
// Classification of clouds as a task: logits of a dataset, metrics from them, and steps of the training loop.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "models/training/metrics.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/cloud_task.h"
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

// Does the same for a run: averages the logits with its kernel regression if it has one.
DatasetLogits run_logits(RunModel& trained, const PointDataset& dataset, Rotation rotation, int64_t repeat,
                         const std::function<void(int64_t)>& progress = {});

struct ClassificationMetrics {
  at::Tensor confusion;  // int64 [classes, classes], rows: true class
  double accuracy = 0.0, mean_class_accuracy = 0.0, loss = 0.0;
  std::vector<ReliabilityBin> reliability = {};  // of the probabilities, averaged over the votes as logits
};

// Pools several evaluations of the same dataset.
ClassificationMetrics classification_metrics(const std::vector<DatasetLogits>& evaluations);

// Compares the logits of transformed copies with those of the originals.
Invariance invariance(const DatasetLogits& original, const std::vector<DatasetLogits>& moved);

// Point cloud classification for the training loop. The score is the accuracy.
class ClassifyTask : public CloudModelTask<PointClassifier, ClassifySettings> {
 public:
  // See CloudTask.
  ClassifyTask(const PointClassifier& model, const PointDataset& training, const PointDataset* validation,
               const ClassifySettings& settings, const Communicator& processes = one_process());

 private:
  Step step_on(const PointBatch& batch, SamplingContext& context) override;
  Means validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) override;
};

}  // namespace geosft
