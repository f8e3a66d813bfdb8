// SPDX-License-Identifier: Apache-2.0
// One optimiser step as the paper trains (SFT section 6): AdamW, a decaying rate with an untuned linear warm-up,
// clipping of the gradient norm; and, by option, a running average of the weights.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/adamw.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace geosft {

enum class Schedule {
  step,    // times `decay` after every `decay_every` epochs
  cosine,  // half a cosine from the full rate to zero over all epochs
};

struct OptimizationOptions {
  double learning_rate = 1e-3;
  double weight_decay = 0.1;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double max_gradient_norm = 1.0;  // 0: no clipping
  Schedule schedule = Schedule::step;
  int64_t decay_every = 30;  // epochs
  double decay = 0.8;
  int64_t epochs = 1;          // of the whole run, for the cosine
  double average_decay = 0.0;  // of the running average of the weights; 0: none
};

// Learning rate at `step` (counted from 0 over the whole run) in `epoch` (with the fraction done). The warm-up is the
// untuned one of Ma and Yarats: a factor min(1, (1 - beta2) / 2 * (step + 1)).
double scheduled_rate(const OptimizationOptions& options, int64_t step, double epoch);

class Optimization {
 public:
  // `module` must outlive the object.
  Optimization(torch::nn::Module& module, const OptimizationOptions& options);

  // Applies the gradients that the parameters hold, at position `epoch`, then clears them. Returns the norm of the
  // gradient before clipping; when it is not finite, nothing is changed.
  double step(double epoch);

  int64_t steps() const { return steps_; }
  double learning_rate() const { return rate_; }

  // While it lives, the module holds the averaged weights (when there is an average).
  class AveragedWeights {
   public:
    explicit AveragedWeights(Optimization& owner);
    ~AveragedWeights();
    AveragedWeights(const AveragedWeights&) = delete;
    AveragedWeights& operator=(const AveragedWeights&) = delete;

   private:
    Optimization& owner_;
  };

  // Everything needed to go on bit for bit, by name; and back. Loading throws when names or shapes do not fit.
  std::map<std::string, at::Tensor> state() const;
  void load_state(const std::map<std::string, at::Tensor>& state);

 private:
  void update_average();
  void swap_average();

  OptimizationOptions options_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_, average_;
  std::unique_ptr<torch::optim::AdamW> optimizer_;
  int64_t steps_ = 0;
  double rate_ = 0.0;
};

}  // namespace geosft
