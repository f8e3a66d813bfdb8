// SPDX-License-Identifier: Apache-2.0
// What a training loop (training_loop.h) trains, as it sees it.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/layers/seed_tape.h"

namespace geosft {

// Loss and metric over a number of items; sums, so that parts add up.
struct Tally {
  double loss = 0.0;   // summed over items
  double score = 0.0;  // the task's metric, higher is better, summed over items (correct answers, say)
  int64_t items = 0;

  void add(const Tally& other);
  // NaN when steps failed, 0 when there was none.
  double mean_loss() const { return items > 0 ? loss / static_cast<double>(items) : loss; }
  double mean_score() const { return items > 0 ? score / static_cast<double>(items) : 0.0; }
};

// What is trained. The loop calls start_epoch, then step as often as steps_per_epoch says.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;
  virtual torch::nn::Module& module() = 0;
  virtual int64_t steps_per_epoch() const = 0;
  // Epochs and steps count from 0; a resumed run begins in the middle of one.
  virtual void start_epoch(int64_t epoch, int64_t first_step) = 0;
  struct Step {
    at::Tensor loss;  // mean over the items, to be differentiated
    Tally tally;
    // Where it is given, what tally.loss and tally.score are to be: float64 [2], on the device. They are read once the
    // next step has been enqueued, so that a GPU never waits for the program.
    at::Tensor sums = {};
    // Over how many terms the loss is the mean, where several processes train together: the larger share counts more.
    // None: the items of the tally. 0: what this process had was another one's, and does not count.
    std::optional<double> terms = {};
  };
  virtual Step step(at::Generator& generator) = 0;
  // Empty when there is nothing to validate on.
  virtual std::optional<Tally> validate() = 0;
  // Seconds that the steps of this epoch have waited for their batches, since start_epoch.
  virtual double seconds_waited() const { return 0.0; }
  // What the last step was computed from (by this process), by name, to be looked at when its loss is not finite.
  virtual std::map<std::string, at::Tensor> last_batch() const { return {}; }
};

// What a step is computed from.
struct StepInputs {
  std::vector<at::Tensor> host = {};     // offsets, say: the program reads their values
  std::vector<at::Tensor*> device = {};  // the step reads them where these point; entries may be undefined
  int64_t items = 0;                     // of the tally, where the step is not computed by the program
};

struct BatchSize {
  int64_t items = 0;     // that are computed independently of one another
  int64_t elements = 0;  // of an activation: tokens times width
};

// A task whose steps can be replayed (step_replay.h): what a step does follows from the sizes of its inputs and the
// values of those that the program reads. Everything else that differs from step to step (the batch, random numbers)
// is read in memory of the device, nothing is copied there or waited for, and Step::sums are given.
class ReplayableTask : public TrainingTask {
 public:
  // Takes the next batch of the epoch, and has what is needed of it on the device.
  virtual void take_batch() = 0;
  virtual StepInputs inputs() = 0;
  // A step on that batch.
  virtual Step compute(SeedTape& seeds) = 0;

  // Size of that batch, by which it is split into parts for the threads of a CPU (split_step.h). No items: never split.
  virtual BatchSize batch_size() const { return {}; }
  // A step on part `part` of `parts`, which are compute_part's own division of the items into contiguous parts: with
  // the random numbers that compute() has for these items, and the loss, tally and terms of these items alone. Called
  // by several threads at the same time.
  virtual Step compute_part(int64_t part, int64_t parts, SeedTape& seeds);

  Step step(at::Generator& generator) final;
};

// A step with this loss over so many items, and this score (a tensor without dimensions, summed over the items); read
// later if they are on a GPU.
TrainingTask::Step measured_step(const at::Tensor& loss, const at::Tensor& score, int64_t items,
                                 std::optional<double> terms = std::nullopt);

}  // namespace geosft
