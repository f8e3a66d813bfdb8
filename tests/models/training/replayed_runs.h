// SPDX-License-Identifier: Apache-2.0
// Trainings on the emulated GPU, with and without replay, and what comes of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "tests/models/training/emulated_gpu.h"
#include "tests/models/training/small_task.h"

namespace geosft::test::emulated_gpu {

inline TrainingOptions options_of(bool replayed, std::optional<at::ScalarType> autocast = std::nullopt) {
  TrainingOptions options = training::options_of(3);
  options.optimization.fused = true;
  options.optimization.learning_rate = 0.05;
  options.optimization.schedule = Schedule::cosine;
  options.optimization.epochs = 3;
  options.autocast = autocast;
  if (replayed) options.step_graphs = graphs();
  return options;
}

struct Outcome {
  std::vector<double> curve;  // loss, norm and rate of every step
  std::map<std::string, at::Tensor> state;
  int64_t replayed = 0;
};

inline Outcome outcome_of(TrainingLoop& loop, int64_t stop_after = -1) {
  Outcome outcome;
  training::Notes notes(stop_after);
  REQUIRE(loop.run(notes) == (stop_after < 0));
  for (const StepReport& step : notes.steps) {
    outcome.curve.insert(outcome.curve.end(), {step.epoch_so_far.loss, step.gradient_norm, step.learning_rate});
  }
  for (const auto& [name, tensor] : loop.state()) outcome.state[name] = tensor.cpu().clone();
  outcome.replayed = loop.replayed_steps();
  return outcome;
}

template <class Task>
Outcome trained(Task&& task, const TrainingOptions& options) {
  TrainingLoop loop(task, options);
  return outcome_of(loop);
}

inline void require_same(const Outcome& a, const Outcome& b) {
  // Steps that are skipped have a norm that is no number.
  REQUIRE(std::equal(a.curve.begin(), a.curve.end(), b.curve.begin(), b.curve.end(),
                     [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }));
  REQUIRE(a.state.size() == b.state.size());
  for (const auto& [name, tensor] : a.state) require_equal(tensor, b.state.at(name), name);
}

}  // namespace geosft::test::emulated_gpu
