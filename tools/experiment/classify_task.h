// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/experiment/classify_evaluation.h"
#include "tools/experiment/cloud_task.h"

namespace geosft {

// Point cloud classification for the training loop. The score is the accuracy.
class ClassifyTask : public CloudTask {
 public:
  // See CloudTask.
  ClassifyTask(const PointClassifier& model, const PointDataset& training, const PointDataset* validation,
               const ClassifySettings& settings, const Communicator& processes = one_process());

  torch::nn::Module& module() override { return *model_; }

 private:
  Step step_on(const PointBatch& batch, SamplingContext& context) override;
  Means validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) override;

  PointClassifier model_;
  ClassifySettings settings_;
};

}  // namespace geosft
