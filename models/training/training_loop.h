// SPDX-License-Identifier: Apache-2.0
// Runs the training loop of every tool: steps, epochs, validation, and a state from which it resumes bit for bit.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "models/training/cuda_graph_runner.h"
#include "models/training/distributed/communicator.h"
#include "models/training/distributed/gradient_reducer.h"
#include "models/training/host_copy.h"
#include "models/training/module_state.h"
#include "models/training/optimization.h"
#include "models/training/split_step.h"
#include "models/training/training_task.h"

namespace geosft {

struct TrainingOptions {
  OptimizationOptions optimization = {};
  int64_t epochs = 1;
  int64_t validate_every = 1;  // epochs; the last one is always validated
  uint64_t seed = 0;           // of all random numbers inside a step
  // float16 or bfloat16: the forward passes of steps run under autocast; float16 scales the loss, with fused steps
  // only.
  std::optional<at::ScalarType> autocast = {};
  // If set, steps of the same shape are captured as CUDA graphs and replayed: for a ReplayableTask in a single process,
  // with fused steps, on a device whose operators do not throw NonFiniteError.
  StepGraphMaker step_graphs = {};
  // Threads that compute a step of a ReplayableTask in a single process on a CPU (split_step.h). 0: as many as LibTorch
  // uses, or fewer if the first steps are faster with fewer. The results of a run do not depend on it.
  int64_t threads = 0;
  // Ends the run at the first step whose loss or gradient is not finite, instead of skipping the step.
  bool stop_at_non_finite = false;
};

struct StepReport {
  int64_t epoch, step_in_epoch, step;  // of the step that has just ended
  MetricSum epoch_so_far;
  double learning_rate, gradient_norm;
};

struct EpochReport {
  int64_t epoch, step;
  MetricSum training;
  std::optional<MetricSum> validation;
  double learning_rate;
  bool best;              // no validated epoch was better (NaN is the worst score); always true without validation
  bool diverging;         // its last steps were not finite: its weights should not be saved as a checkpoint
  double seconds_waited;  // seconds that its steps waited for batches, or those since the run was resumed
};

// A step that was skipped because its loss or gradient was not finite. A scaled loss whose gradients overflow does not
// count unless the loss itself is not finite. On a GPU the next step is already running when this is reported: the
// weights may be those after the next step.
struct NonFiniteStep {
  StepReport step;
  int64_t in_a_row;           // including this one
  std::string error_message;  // from an operator; may be empty
  std::map<std::string, at::Tensor> batch;
  bool here = true;  // this process holds `batch`: the first process whose loss is not finite does
};

// Callbacks of the loop, for progress, metrics and checkpoints.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_step(const StepReport& report) = 0;
  virtual void on_epoch(const EpochReport& report) = 0;
  virtual bool stop_requested() = 0;
  // Called before on_step.
  virtual void on_non_finite(const NonFiniteStep&) {}
  // Called before on_step, once the number of threads has been chosen from the first steps; `text` gives it with the
  // times.
  virtual void on_threads_chosen(const std::string& /*text*/) {}
};

// In distributed training each process has its own loop, and a step processes the union of their batches: the loss is
// the mean over all terms, gradients are summed during the backward pass (distributed/gradient_reducer.h), and metrics
// and reports cover all processes. Weights, optimiser and generator are the same in all processes at any time, so a
// state can be resumed with any other number of processes. Rank 0 validates.
class TrainingLoop {
 public:
  // `task` and `processes` must outlive the loop. `processes` must be able to all-reduce on the device of the
  // parameters.
  TrainingLoop(TrainingTask& task, const TrainingOptions& options, const Communicator& processes = one_process());

  // Runs the remaining epochs. Returns false if an observer of any process requested a stop, or if the validation in
  // rank 0 threw an exception (in the other processes); the loop can be continued later. Throws if the processes have
  // different weights or positions at the beginning of an epoch, and if the loss or gradient is not finite in many
  // successive steps, in the whole last epoch, or (by option) in one step; a step that ends with a NonFiniteError
  // counts as one. After an exception from the validation the loop can be continued.
  bool run(TrainingObserver& observer);

  // Runs one step without reporting it, to test whether it fits into memory. Returns false if the model threw a
  // NonFiniteError, in which case the test is inconclusive. The loop must not be used afterwards.
  bool try_step();

  Optimization& optimization() { return optimization_; }
  const Communicator& processes() const { return processes_; }
  int64_t steps_per_epoch() const { return task_.steps_per_epoch(); }
  int64_t epochs() const { return epoch_; }  // completed
  // Returns the number of steps replayed since the loop was constructed.
  int64_t replayed_steps() const { return graph_runner_ ? graph_runner_->replayed() : 0; }
  // Returns the metrics of the current epoch; complete when run() has returned or an observer is called for an epoch.
  const MetricSum& metrics() const { return metrics_; }

  // Return weights, optimiser, generator and position by name, and restore them. Tensors of weights and of the
  // optimiser share the memory of the run, which goes on changing them: a state to come back to is a copy.
  std::map<std::string, at::Tensor> state() const;
  void load_state(const std::map<std::string, at::Tensor>& state);

 private:
  // An enqueued step. `numbers` are the gradient norm and the result of sum_over_processes(), if they are still being
  // computed.
  struct Enqueued {
    StepReport report;
    MetricSum metrics;
    std::shared_ptr<HostCopy> numbers;
    std::map<std::string, at::Tensor> batch = {};
    bool shows_batch = true;
    std::string error_message = {};
  };
  // The data about a step that all processes share without waiting for a GPU.
  struct StepSummary {
    double terms = 0.0;          // of this process
    double weight = 1.0;         // of its loss
    int64_t items = 0;           // of all processes
    int64_t failed_rank = none;  // the first process whose model threw a NonFiniteError
    static constexpr int64_t none = -1;
  };
  bool forward(TrainingTask::Step& step, std::string& error_message);
  StepSummary summarize(const TrainingTask::Step& step, bool failed) const;
  at::Tensor sum_over_processes(const TrainingTask::Step& step, const StepSummary& all) const;
  void read_sums(const at::Tensor& sums, Enqueued& step) const;
  void backward(const TrainingTask::Step& step, double weight);
  void train_step(TrainingObserver& observer);
  Enqueued new_step() const;
  Enqueued enqueue_step();
  Enqueued enqueue_replayable(ReplayableTask& task);
  Enqueued split_step(ReplayableTask& task);
  double epochs_so_far() const;
  void finalize_step(Enqueued& step, TrainingObserver& observer);
  void finalize_last_step(TrainingObserver& observer);
  void finalize_all_steps(TrainingObserver& observer);
  void skip_step(const Enqueued& step, const StepReport& report, TrainingObserver& observer);
  std::optional<MetricSum> validated();
  void finish_epoch(TrainingObserver& observer);
  [[noreturn]] void fail() const;

  TrainingTask& task_;
  TrainingOptions options_;
  const Communicator& processes_;
  at::Device device_;  // of the parameters
  bool scaled_loss_;
  Optimization optimization_;
  std::unique_ptr<GradientReducer> reducer_;  // in distributed training
  at::Generator generator_;
  std::unique_ptr<CudaGraphRunner> graph_runner_;  // by option
  std::unique_ptr<SplitStep> split_;               // of a ReplayableTask by one process on a CPU
  int64_t epoch_ = 0, step_in_epoch_ = 0;
  int64_t non_finite_steps_ = 0;  // in a row
  std::string error_message_;     // of the last of them
  MetricSum metrics_;
  std::optional<Enqueued> last_;  // not finalized yet
  double best_score_;
};

}  // namespace geosft
