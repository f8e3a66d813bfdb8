// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "models/summary.h"
#include "models/training/training_loop.h"
#include "tools/experiment/augmented_loader.h"
#include "tools/experiment/cloud_transforms.h"

namespace geosft {

// A task over point clouds for the training loop: batches and validation. Derived classes compute loss and metric.
class CloudTask : public ReplayableTask {
 public:
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

 protected:
  // The arguments must outlive the task; `validation` may be null. A batch of settings.train.batch_size clouds is split
  // over the processes.
  template <class Settings>
  CloudTask(const torch::nn::Module& model, const PointDataset& training, const PointDataset* validation,
            const Settings& settings, const Communicator& processes)
      : device_(device_of(model)),
        processes_(processes),
        validation_(validation),
        width_(settings.model.width),
        loader_(training, settings, processes, device_) {}

  virtual Step step_on(const PointBatch& batch, SamplingContext& context) = 0;
  // Returns the means of loss and metric over the clouds, upright and with one vote, which is enough for a learning
  // curve. `progress` is to be called meanwhile.
  struct Means {
    double loss, score;
  };
  virtual Means validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) = 0;

 private:
  at::Device device_;  // of the model
  const Communicator& processes_;
  const PointDataset* validation_;
  int64_t width_;
  AugmentedLoader loader_;
  PointBatch there_;  // batch of the step, on the model's device
};

// Returns the settings with a single vote.
template <class Settings>
Settings with_one_vote(Settings settings) {
  settings.evaluation.votes = 1;
  return settings;
}

}  // namespace geosft
