// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "models/training/training_loop.h"
#include "tools/classify/evaluation.h"
#include "tools/experiment/augmented_loader.h"

namespace geosft {

// Point cloud classification for the training loop: batches, loss, validation.
class ClassifyTask : public ReplayableTask {
 public:
  // The arguments must outlive the task; `validation` may be null. A batch of settings.train.batch_size clouds is split
  // over the processes.
  ClassifyTask(PointClassifier model, const PointDataset& training, const PointDataset* validation,
               const ClassifySettings& settings, const Communicator& processes = one_process());

  torch::nn::Module& module() override { return *model_; }
  int64_t steps_per_epoch() const override { return loader_.batches_per_epoch(); }
  void start_epoch(int64_t epoch, int64_t first_step) override { loader_.start_epoch(epoch, first_step); }
  void take_batch() override;
  StepInputs inputs() override;
  Step compute(RngBuffer& seeds) override;
  BatchSize batch_size() const override;
  Step compute_part(int64_t part, int64_t parts, RngBuffer& seeds) override;
  // Throws Interrupted if a signal arrives meanwhile.
  std::optional<MetricSum> validate() override;
  double seconds_waited() const override { return loader_.seconds_waited(); }
  std::map<std::string, at::Tensor> last_batch() const override { return batch_tensors(loader_.last()); }

 private:
  Step step_on(const PointBatch& batch, SamplingContext& context);

  PointClassifier model_;
  const Communicator& processes_;
  const PointDataset* validation_;
  ClassifySettings settings_, validation_settings_;
  AugmentedLoader loader_;
  PointBatch there_;  // batch of the step, on the model's device
};

}  // namespace geosft
