// SPDX-License-Identifier: Apache-2.0
// Defines the interface of the tasks that a training loop (training_loop.h) trains.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/layers/rng_buffer.h"

namespace geosft {

// Loss and metric summed over a number of items.
struct MetricSum {
  double loss = 0.0;   // summed over items
  double score = 0.0;  // the task's metric (higher is better), summed over items: correct predictions, for example
  int64_t items = 0;

  void add(const MetricSum& other);
  // Returns NaN if the steps failed, 0 without any step.
  double mean_loss() const { return items > 0 ? loss / static_cast<double>(items) : loss; }
  double mean_score() const { return items > 0 ? score / static_cast<double>(items) : 0.0; }
};

// A task to train. The loop calls start_epoch, then step steps_per_epoch() times.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;
  virtual torch::nn::Module& module() = 0;
  virtual int64_t steps_per_epoch() const = 0;
  // Starts an epoch. Epochs and steps count from 0; a resumed run begins in the middle of one.
  virtual void start_epoch(int64_t epoch, int64_t first_step) = 0;
  struct Step {
    at::Tensor loss;  // mean over the items, to be differentiated
    MetricSum metrics;
    // If defined, replaces metrics.loss and metrics.score: float64 [2], on the device. It is read after the next step
    // has been enqueued, so that the GPU never waits for the host.
    at::Tensor sums = {};
    // Number of terms that the loss is the mean of: the weight of this process in distributed training. None:
    // metrics.items. 0: the batch of this process is padding, and does not count.
    std::optional<double> terms = {};
  };
  virtual Step step(at::Generator& generator) = 0;
  // Returns nullopt if there is no validation set.
  virtual std::optional<MetricSum> validate() = 0;
  // Returns the seconds that steps have waited for their batches since start_epoch.
  virtual double seconds_waited() const { return 0.0; }
  // Returns the inputs of the last step of this process by name, for inspection if its loss is not finite.
  virtual std::map<std::string, at::Tensor> last_batch() const { return {}; }
};

// The inputs of a step.
struct StepInputs {
  std::vector<at::Tensor> host = {};     // read by the host: offsets, for example
  std::vector<at::Tensor*> device = {};  // read on the device, at these addresses; entries may be undefined
  int64_t items = 0;                     // metrics.items of a replayed step
};

struct BatchSize {
  int64_t items = 0;     // independent of one another
  int64_t elements = 0;  // of an activation: tokens times width
};

// A task whose steps can be replayed (cuda_graph_runner.h): a step is determined by the shapes of its inputs and the
// values of those that the host reads. Everything else that differs between steps (the batch, random numbers) is read
// from device memory; a step neither copies to the device nor waits for it, and sets Step::sums.
class ReplayableTask : public TrainingTask {
 public:
  // Takes the next batch of the epoch, and moves it to the device.
  virtual void take_batch() = 0;
  virtual StepInputs inputs() = 0;
  // Computes a step on that batch.
  virtual Step compute(RngBuffer& seeds) = 0;

  // Returns the size of that batch, for splitting it over the threads of a CPU (split_step.h). A batch with 0 items is
  // never split.
  virtual BatchSize batch_size() const { return {}; }
  // Computes a step on part `part` of `parts` contiguous parts of the items, which the task chooses: with the same
  // random numbers for these items as in compute(), and the loss, metrics and terms of these items only. Called by
  // several threads concurrently.
  virtual Step compute_part(int64_t part, int64_t parts, RngBuffer& seeds);

  Step step(at::Generator& generator) final;
};

// Returns a step with this mean loss over `items` and this score (0-dimensional, summed over the items); on a GPU they
// are read later.
TrainingTask::Step measured_step(const at::Tensor& loss, const at::Tensor& score, int64_t items,
                                 std::optional<double> terms = std::nullopt);

}  // namespace geosft
