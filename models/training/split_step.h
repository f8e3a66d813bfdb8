// SPDX-License-Identifier: Apache-2.0
// Training steps on a CPU: a batch is split into parts, which several threads compute at the same time.
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

// Into how many parts a batch is split. This depends on the batch alone and not on the machine: sums of gradients are
// rounded alike whatever the number of threads. 1, 2, 4, 8 or 16 parts, so that they are shared evenly; each has at
// least one item and 131,072 elements, and takes much longer than the calls of its operators.
int64_t split_parts(const BatchSize& size);

// How many threads compute steps fastest: 1, 2, 4, … and the maximum take turns over the first steps, and what was
// measured decides.
class ThreadTrial {
 public:
  // The maximum of 1 or more.
  explicit ThreadTrial(int64_t max_threads);

  // Threads of the next step.
  int64_t threads() const;
  // The step took so many seconds for so many elements.
  void record(double seconds, double elements);
  bool finished() const { return steps_ >= warm_up + rounds * static_cast<int64_t>(candidates_.size()); }
  // "2 threads (1: 12.3 ms a step, 2: 7.1 ms)", of the mean step; after the trial.
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
  // threads 0: up to as many as LibTorch has for the calling thread, chosen by a ThreadTrial.
  SplitStep(std::vector<at::Tensor> parameters, std::optional<at::ScalarType> autocast, int64_t threads = 0);

  struct Result {
    Tally tally;
    std::string refusal;  // what an operator said of activations that are not finite; empty where none did
  };
  // Computes the batch that `task` has taken, and leaves the gradient of its loss in the parameters. The loss is the
  // mean over all terms of the batch, and is scaled by `scaled` before it is differentiated. The random numbers are
  // those of an unsplit step; the generator moves on as after one, but for a step that was refused.
  Result run(ReplayableTask& task, at::Generator& generator,
             const std::function<at::Tensor(const at::Tensor&)>& scaled);

  // A batch of this size is too small for any of its loops to be shared by threads.
  static bool is_small(const BatchSize& size);

  // What the trial has found, once: by the first call after its end.
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
