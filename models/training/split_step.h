// SPDX-License-Identifier: Apache-2.0
// Computes training steps on a CPU: splits a batch into parts, which several threads compute concurrently.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "geometry/threads.h"
#include "models/training/training_task.h"

namespace geosft {

// Returns the number of parts that a batch is split into. It depends only on the batch, so that gradient sums are
// rounded in the same way for any number of threads. It is 1, 2, 4, 8 or 16, to balance the threads; each part has at
// least one item and 131,072 elements, which take much longer than the overhead of operator calls.
int64_t split_parts(const BatchSize& size);

// Chooses the fastest number of threads: the first steps run with 1, 2, 4, … and the maximum in turn, and their times
// decide.
class ThreadTrial {
 public:
  // max_threads >= 1.
  explicit ThreadTrial(int64_t max_threads);

  // Returns the number of threads for the next step.
  int64_t threads() const;
  // Records the time of a step and the size of its batch.
  void record(double seconds, double elements);
  bool finished() const { return steps_ >= warm_up + rounds * static_cast<int64_t>(candidates_.size()); }
  // Returns the result after the trial, such as "2 threads (1: 12.3 ms, 2: 7.1 ms a step)", for a batch of mean size.
  std::string text() const;

 private:
  static constexpr int64_t warm_up = 2, rounds = 4;
  struct Candidate {
    int64_t threads;
    double seconds = 0.0, elements = 0.0;
  };
  size_t turn() const { return static_cast<size_t>(steps_ - warm_up) % candidates_.size(); }
  size_t fastest() const;

  std::vector<Candidate> candidates_;
  int64_t steps_ = 0;
};

class SplitStep {
 public:
  // threads 0: chosen by a ThreadTrial, at most as many as LibTorch uses in the calling thread. Parameters that do not
  // require a gradient are left out.
  SplitStep(std::vector<at::Tensor> parameters, std::optional<at::ScalarType> autocast, int64_t threads = 0);

  struct Result {
    MetricSum metrics;
    std::string error_message;  // from an operator that met non-finite activations; empty otherwise
  };
  // Computes the loss of the batch that `task` has taken, and stores its gradient in the parameters. The loss is the
  // mean over all terms of the batch, and is scaled by `scaled` before it is differentiated. The random numbers are
  // those of an unsplit step, and so is the final state of the generator, unless the step failed (error_message).
  Result run(ReplayableTask& task, at::Generator& generator,
             const std::function<at::Tensor(const at::Tensor&)>& scaled);

  // Returns whether a batch of this size is too small for multi-threaded loops.
  static bool is_small(const BatchSize& size);

  // Returns the text of the trial once, at the first call after its end.
  std::optional<std::string> take_news();

 private:
  Result run_whole(ReplayableTask& task, at::Generator& generator, bool single_threaded,
                   const std::function<at::Tensor(const at::Tensor&)>& scaled);
  Result run_parts(ReplayableTask& task, int64_t parts, at::Generator& generator, int64_t threads,
                   const std::function<at::Tensor(const at::Tensor&)>& scaled);

  std::vector<at::Tensor> parameters_;
  std::optional<at::ScalarType> autocast_;
  WorkerTeam team_;
  std::optional<ThreadTrial> trial_;
  bool told_ = false;
};

}  // namespace geosft
