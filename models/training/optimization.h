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

#include "models/training/fused_adamw.h"

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
  bool fused = false;          // steps are enqueued and not waited for: see FusedAdamW
  bool scale_loss = false;     // of fused steps, for float16
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

  // The same with the norm as a tensor without dimensions. With options.fused the device is not waited for, and steps
  // that change nothing count for the learning rate.
  at::Tensor enqueue(double epoch);
  // The two parts of that, with options.fused alone. The first counts the step, and brings what it depends on beside
  // the gradients (learning rate, weight of the average) to the device; the second reads it there, and can be captured.
  void begin_step(double epoch);
  at::Tensor apply();
  // What is to be differentiated instead of `loss`: see FusedAdamW.
  at::Tensor scaled(const at::Tensor& loss) const { return fused_ ? fused_->scaled(loss) : loss; }

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
  // Moments of parameter i, undefined where it has none yet; and places for them.
  FusedAdamW::Moments moments(size_t i) const;
  FusedAdamW::Moments new_moments(size_t i);
  // Of the averaged weights, how much the next ones count.
  double average_weight() const;
  void swap_average();

  OptimizationOptions options_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_, average_;
  std::unique_ptr<torch::optim::AdamW> optimizer_;  // one of the two
  std::unique_ptr<FusedAdamW> fused_;
  at::Tensor numbers_;  // of a fused step, float32 [2] on the device: learning rate, weight of the average
  int64_t steps_ = 0;
  double rate_ = 0.0;
};

}  // namespace geosft
