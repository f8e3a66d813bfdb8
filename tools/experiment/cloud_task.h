// SPDX-License-Identifier: Apache-2.0
// Trains models of point clouds: batches, validation and steps for the training loop.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "models/summary.h"
#include "tools/experiment/augmented_loader.h"
#include "tools/experiment/cloud_transforms.h"

namespace geosft {

// A task over point clouds for the training loop: batches and validation. Derived classes compute loss and metric.
class CloudTask : public LoaderTask<AugmentedLoader> {
 public:
  void take_batch() override;
  StepInputs inputs() override;
  Step compute(RngBuffer& seeds) override;
  BatchSize batch_size() const override;
  Step compute_part(int64_t part, int64_t parts, RngBuffer& seeds) override;
  std::map<std::string, at::Tensor> last_batch() const override { return batch_tensors(loader_.last()); }

 protected:
  // The arguments must outlive the task; `validation` may be null. A batch of settings.train.batch_size clouds is split
  // over the processes.
  template <class Settings>
  CloudTask(const torch::nn::Module& model, const PointDataset& training, const PointDataset* validation,
            const Settings& settings, const Communicator& processes)
      : LoaderTask(processes, training, settings, processes, device_of(model)),
        device_(device_of(model)),
        validation_(validation),
        width_(settings.model.dim) {}

  virtual Step step_on(const PointBatch& batch, SamplingContext& context) = 0;
  // Returns the means over the clouds, see LoaderTask.
  virtual Means validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) = 0;

 private:
  std::optional<Means> validation(const std::function<void(int64_t)>& progress) override;

  at::Device device_;  // of the model
  const PointDataset* validation_;
  int64_t width_;
  PointBatch there_;  // batch of the step, on the model's device
};

// A task over point clouds that trains this type of model.
template <class Model, class Settings>
class CloudModelTask : public CloudTask {
 public:
  torch::nn::Module& module() override { return *model_; }

 protected:
  // See CloudTask.
  CloudModelTask(const Model& model, const PointDataset& training, const PointDataset* validation,
                 const Settings& settings, const Communicator& processes)
      : CloudTask(*model, training, validation, settings, processes), model_(model), settings_(settings) {}

  Model model_;
  Settings settings_;
};

// Returns the settings with a single vote.
template <class Settings>
Settings with_one_vote(Settings settings) {
  settings.evaluation.votes = 1;
  return settings;
}

}  // namespace geosft
