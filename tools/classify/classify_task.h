// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "models/training/training_loop.h"
#include "tools/classify/evaluation.h"

namespace geosft {

// Classification of point clouds for the training loop: batches, loss, validation.
class ClassifyTask : public TrainingTask {
 public:
  // What is referred to must outlive the task; `validation` may be null. A batch of settings.train.batch_size clouds is
  // shared by the processes.
  ClassifyTask(PointClassifier model, const PointDataset& training, const PointDataset* validation,
               const ClassifySettings& settings, const Communicator& processes = one_process());

  torch::nn::Module& module() override { return *model_; }
  int64_t steps_per_epoch() const override { return loader_.batches_per_epoch(); }
  void start_epoch(int64_t epoch, int64_t first_step) override { loader_.start_epoch(epoch, first_step); }
  Step step(at::Generator& generator) override;
  // Throws Interrupted when a signal comes in the middle.
  std::optional<Tally> validate() override;
  double seconds_waited() const override { return loader_.seconds_waited(); }
  std::map<std::string, at::Tensor> last_batch() const override { return batch_tensors(last_); }

 private:
  PointClassifier model_;
  const Communicator& processes_;
  const PointDataset* validation_;
  ClassifySettings settings_, validation_settings_;
  PointLoader loader_;
  std::optional<PointBatch> last_;
};

}  // namespace geosft
