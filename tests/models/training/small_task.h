// SPDX-License-Identifier: Apache-2.0
// A task that takes no time, and what its loop did.
#pragma once

#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>

#include "models/training/training_loop.h"
#include "tests/support.h"

namespace geosft::test::training {

// Regression on random rows, drawn from the loop's generator.
class Regression : public TrainingTask {
 public:
  Regression() {
    manual_seed(2);
    linear_ = torch::nn::Linear(4, 1);
  }
  torch::nn::Module& module() override { return *linear_; }
  int64_t steps_per_epoch() const override { return 5; }
  void start_epoch(int64_t epoch, int64_t first_step) override { started.emplace_back(epoch, first_step); }
  double seconds_waited() const override { return 0.25 * static_cast<double>(started.size()); }
  Step step(at::Generator& generator) override {
    REQUIRE(linear_->is_training());
    const at::Tensor x = at::randn({8, 4}, generator);
    const at::Tensor loss = (linear_->forward(x).squeeze(1) - x.sum(1)).square().mean() * factor;
    return {loss, {8 * loss.item<double>(), -8 * loss.item<double>(), 8}};
  }
  std::optional<MetricSum> validate() override {
    REQUIRE_FALSE(linear_->is_training());
    if (scores.empty()) return std::nullopt;
    const double score = scores[validations++ % scores.size()];
    return MetricSum{0.0, 10 * score, 10};
  }

  std::vector<std::pair<int64_t, int64_t>> started;
  std::vector<double> scores;
  double factor = 1.0;
  size_t validations = 0;

 private:
  torch::nn::Linear linear_{nullptr};
};

// Its sums are read later, as those of a task on a GPU are.
class Later : public Regression {
 public:
  Step step(at::Generator& generator) override {
    const Step now = Regression::step(generator);
    return {now.loss, {0.0, 0.0, now.metrics.items}, at::tensor({now.metrics.loss, now.metrics.score}, at::kDouble)};
  }
};

inline std::map<std::string, at::Tensor> copy_of(const std::map<std::string, at::Tensor>& state) {
  std::map<std::string, at::Tensor> copy;
  for (const auto& [name, tensor] : state) copy[name] = tensor.clone();
  return copy;
}

// Notes what happened; asks to stop after `stop_after` steps.
class Notes : public TrainingObserver {
 public:
  explicit Notes(int64_t stop_after = -1) : stop_after_(stop_after) {}
  void on_step(const StepReport& report) override {
    steps.push_back(report);
    events += 's';
  }
  void on_epoch(const EpochReport& report) override {
    epochs.push_back(report);
    events += 'E';
  }
  bool stop_requested() override { return static_cast<int64_t>(steps.size()) == stop_after_; }

  std::vector<StepReport> steps;
  std::vector<EpochReport> epochs;
  std::string events;

 private:
  int64_t stop_after_;
};

// A letter per epoch: b for the best so far, - for another.
inline std::string best_epochs(const Notes& notes) {
  std::string best;
  for (const EpochReport& report : notes.epochs) best += report.best ? 'b' : '-';
  return best;
}

inline TrainingOptions options_of(int64_t epochs, int64_t validate_every = 1) {
  TrainingOptions options;
  options.epochs = epochs;
  options.validate_every = validate_every;
  options.seed = 3;
  options.optimization.average_decay = 0.9;
  return options;
}

}  // namespace geosft::test::training
