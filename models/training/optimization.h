// SPDX-License-Identifier: Apache-2.0
// Optimises as in the paper (SFT section 6): AdamW, a decaying learning rate with an untuned linear warm-up, clipping
// of the gradient norm and, by option, an exponential moving average of the weights. The running statistics of batch
// normalisation, buffers named running_mean and running_var, are averaged with the weights, as AveragedModel of
// torch.optim.swa_utils does with use_buffers: those of the current weights do not belong to the averaged ones.
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
  step,    // multiplied by `decay` every `decay_every` epochs
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
  int64_t epochs = 1;             // of the whole run, for the cosine
  double warmup_epochs = 0.0;     // of a linear warm-up; 0: the untuned one, whose length beta2 sets
  double average_decay = 0.0;     // of the moving average of weights and running statistics; 0: none
  bool fused = false;             // asynchronous steps: see FusedAdamW
  bool scale_loss = false;        // with `fused`, for float16
  double head_rate_factor = 1.0;  // learning rate of the parameters of a head (is_of_head), relative to the others'
};

// Returns the learning rate at `step` (counted from 0 over the whole run) in `epoch` (with the fraction done). The
// warm-up is the untuned one of Ma and Yarats, a factor min(1, (1 - beta2) / 2 * (step + 1)), or with warmup_epochs a
// factor min(1, epoch / warmup_epochs) that begins with 1e-6; a cosine then begins at its end.
double scheduled_rate(const OptimizationOptions& options, int64_t step, double epoch);

class Optimization {
 public:
  // `module` must outlive the object.
  Optimization(torch::nn::Module& module, const OptimizationOptions& options);

  // Applies the gradients of the parameters at position `epoch`, then clears them. Returns the gradient norm before
  // clipping; if it is not finite, nothing changes.
  double step(double epoch);

  // Does the same, with the norm as a 0-dimensional tensor. With options.fused the host does not wait for the device,
  // and skipped steps count for the learning rate.
  at::Tensor enqueue(double epoch);
  // Run the two halves of enqueue, with options.fused only. begin_step counts the step and copies the learning rate and
  // the weight of the average to the device; apply reads them there, and can be captured.
  void begin_step(double epoch);
  at::Tensor apply();
  // Returns the scaled loss to differentiate: see FusedAdamW.
  at::Tensor scaled(const at::Tensor& loss) const { return fused_ ? fused_->scaled(loss) : loss; }

  int64_t steps() const { return steps_; }
  double learning_rate() const { return rate_; }

  // Replaces weights and running statistics of the module by their average, if there is one, during its lifetime.
  class AveragedWeights {
   public:
    explicit AveragedWeights(Optimization& owner);
    ~AveragedWeights();
    AveragedWeights(const AveragedWeights&) = delete;
    AveragedWeights& operator=(const AveragedWeights&) = delete;

   private:
    Optimization& owner_;
  };

  // Return the state for resuming bit for bit, by name, and restore it, which throws and changes nothing if names or
  // shapes do not match. In a state of an earlier version, which has no averaged statistics, the average begins with
  // those of the module.
  std::map<std::string, at::Tensor> state() const;
  void load_state(const std::map<std::string, at::Tensor>& state);

 private:
  // Return the moments of parameter i, undefined if it has none yet; and newly allocated ones.
  FusedAdamW::Moments moments(size_t i) const;
  FusedAdamW::Moments new_moments(size_t i);
  // Returns the weight of the current weights in the moving average.
  double average_weight() const;
  void swap_average();

  OptimizationOptions options_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> parameters_;
  // The averaged tensors: the parameters, then the running statistics. Empty without an average.
  struct Average {
    std::string name;
    at::Tensor current, mean;
  };
  std::vector<Average> averages_;
  std::vector<double> group_factors_;               // of the learning rate, one per parameter group of optimizer_
  std::unique_ptr<torch::optim::AdamW> optimizer_;  // either this or fused_
  std::unique_ptr<FusedAdamW> fused_;
  at::Tensor numbers_;  // of a fused step, float32 [2] on the device: learning rate, weight of the average
  int64_t steps_ = 0;
  double rate_ = 0.0;
};

}  // namespace geosft
