// SPDX-License-Identifier: Apache-2.0
// The training loop that every tool shares: steps, epochs, validation, and a state that continues bit for bit.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "models/training/communicator.h"
#include "models/training/gradient_exchange.h"
#include "models/training/host_copy.h"
#include "models/training/module_state.h"
#include "models/training/optimization.h"
#include "models/training/split_step.h"
#include "models/training/step_replay.h"
#include "models/training/training_task.h"

namespace geosft {

struct TrainingOptions {
  OptimizationOptions optimization = {};
  int64_t epochs = 1;
  int64_t validate_every = 1;  // epochs; the last one is always validated
  uint64_t seed = 0;           // of everything that is drawn inside a step
  // float16 or bfloat16: forward passes of steps run under autocast; float16 with a scaled loss, fused steps alone.
  std::optional<at::ScalarType> autocast = {};
  // Steps of one shape are captured and replayed, where there is something to capture them with: of a ReplayableTask,
  // by one process, fused, on a device whose operators refuse no numbers.
  StepGraphMaker step_graphs = {};
  // Threads that compute a step, of a ReplayableTask by one process on a CPU (split_step.h). 0: as many as LibTorch
  // has, or fewer where the first steps are faster with fewer. The numbers of a run do not depend on it.
  int64_t threads = 0;
  // End the run at the first step whose loss or gradient is not finite, which is passed over otherwise.
  bool stop_at_non_finite = false;
};

struct StepReport {
  int64_t epoch, step_in_epoch, step;  // just done
  Tally epoch_so_far;
  double learning_rate, gradient_norm;
};

struct EpochReport {
  int64_t epoch, step;
  Tally training;
  std::optional<Tally> validation;
  double learning_rate;
  bool best;              // no validated epoch was better, a score that is not a number is worst; without one every is
  bool diverging;         // its last steps were not finite: the weights that made them so are not worth keeping
  double seconds_waited;  // by its steps, for their batches; since the run was resumed, if that was in this epoch
};

// A step that has changed nothing because its loss or its gradient was not finite. Gradients of a scaled loss that
// overflow belong to its scale: without a loss that is not finite they are no such step. On a GPU the step after it is
// under way when it is told: the weights that are there then are those of one step later, where that one changed them.
struct NonFiniteStep {
  StepReport step;
  int64_t in_a_row;     // with this one
  std::string refusal;  // what an operator said of it; may be empty
  std::map<std::string, at::Tensor> batch;
  bool here = true;  // of several processes this one has the batch to look at: the first whose loss is not finite
};

// What watches the loop: progress, metrics, checkpoints.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_step(const StepReport& report) = 0;
  virtual void on_epoch(const EpochReport& report) = 0;
  virtual bool stop_requested() = 0;
  // Comes before on_step.
  virtual void on_non_finite(const NonFiniteStep&) {}
  // The first steps have shown how many threads are fastest; `text` says so with the times. Comes before on_step.
  virtual void on_threads_chosen(const std::string& /*text*/) {}
};

// With several processes, each of which has a loop of its own, a step is one of the batch that they have together: the
// loss is the mean over all its terms, gradients are summed while they are computed (gradient_exchange.h), and tallies
// and reports are of all. Weights, optimiser and generator are the same in all of them at any time, so that a state is
// that of a run with any other number of processes. The leading process validates.
class TrainingLoop {
 public:
  // What is referred to must outlive the loop. Several processes must be able to sum what is on the device of the
  // parameters.
  TrainingLoop(TrainingTask& task, const TrainingOptions& options, const Communicator& processes = one_process());

  // Runs what is left of the epochs. Returns false when the observer asked to stop, in any of the processes, or the
  // leading one left a validation by an exception; the loop can go on later. Throws when the processes hold different
  // weights or positions at the beginning of an epoch, and when the loss or the gradient stays non-finite over many
  // steps, or in all of the last epoch, or by option at the first such step; a step that ends with a NonFiniteError
  // counts as one. An exception from the validation leaves the loop where it can go on.
  bool run(TrainingObserver& observer);

  // One step of the epoch, which nobody is told of: is there memory for it? False where the model refused it, which
  // then is not known. The loop is of no use afterwards.
  bool try_step();

  Optimization& optimization() { return optimization_; }
  const Communicator& processes() const { return processes_; }
  int64_t steps_per_epoch() const { return task_.steps_per_epoch(); }
  int64_t epochs() const { return epoch_; }  // finished
  // Steps that were replayed since the loop was made.
  int64_t replayed_steps() const { return replay_ ? replay_->replayed() : 0; }
  // Of the epoch that is not finished; complete when run() has returned or an observer is told of an epoch.
  const Tally& tally() const { return tally_; }

  // Weights, optimiser, generator and position, by name; and back.
  std::map<std::string, at::Tensor> state() const;
  void load_state(const std::map<std::string, at::Tensor>& state);

 private:
  // A step that is enqueued. `numbers` are the norm and what summed() gives, where they are known later.
  struct Enqueued {
    StepReport report;
    Tally tally;
    std::shared_ptr<HostCopy> numbers;
    std::map<std::string, at::Tensor> batch = {};
    bool shows_batch = true;
    std::string refusal = {};
  };
  // What the processes have of a step, as far as they know without waiting for a GPU.
  struct Together {
    double terms = 0.0;         // of this process
    double weight = 1.0;        // of its loss
    int64_t items = 0;          // of all
    int64_t refused_in = none;  // the first process whose model refused the step
    static constexpr int64_t none = -1;
  };
  bool forward(TrainingTask::Step& step, std::string& refusal);
  Together together(const TrainingTask::Step& step, bool refused) const;
  at::Tensor summed(const TrainingTask::Step& step, const Together& all) const;
  void read_sums(const at::Tensor& sums, Enqueued& step) const;
  void backward(const TrainingTask::Step& step, double weight);
  void train_step(TrainingObserver& observer);
  Enqueued begun_step() const;
  Enqueued enqueue_step();
  Enqueued enqueue_replayable(ReplayableTask& task);
  Enqueued split_step(ReplayableTask& task);
  double epochs_so_far() const;
  void settle(Enqueued& step, TrainingObserver& observer);
  void settle_last(TrainingObserver& observer);
  void settle_all(TrainingObserver& observer);
  void pass_over(const Enqueued& step, const StepReport& report, TrainingObserver& observer);
  std::optional<Tally> validated();
  void finish_epoch(TrainingObserver& observer);
  [[noreturn]] void fail() const;

  TrainingTask& task_;
  TrainingOptions options_;
  const Communicator& processes_;
  at::Device device_;  // of the parameters
  bool scaled_loss_;
  Optimization optimization_;
  std::unique_ptr<GradientExchange> exchange_;  // with other processes
  at::Generator generator_;
  std::unique_ptr<StepReplay> replay_;  // by option
  std::unique_ptr<SplitStep> split_;    // of a ReplayableTask by one process on a CPU
  int64_t epoch_ = 0, step_in_epoch_ = 0;
  int64_t non_finite_steps_ = 0;  // in a row
  std::string refusal_;           // what an operator said of the last of them
  Tally tally_;
  std::optional<Enqueued> last_;  // not settled yet
  double best_score_;
};

}  // namespace geosft
