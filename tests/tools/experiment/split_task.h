// SPDX-License-Identifier: Apache-2.0
// Tests what the tasks of all trainings do: a batch as a whole is that in parts, and a signal ends a validation.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <optional>
#include <vector>

#include "models/training/autocast.h"
#include "models/training/training_task.h"
#include "tests/support.h"
#include "tools/experiment/main_guard.h"

namespace geosft::test {

// Autocast to this type while it lives, as a training has it; float32: none.
inline Autocast autocast_to(at::ScalarType precision) {
  return Autocast(at::kCPU, precision == at::kFloat ? std::nullopt : std::optional(precision));
}

// The first step of an epoch, and the random numbers that it had, for doing the same apart.
struct FirstStep {
  at::Generator same = generator(1);
  TrainingTask::Step step;

  explicit FirstStep(TrainingTask& task) {
    task.start_epoch(0, 0);
    at::Generator random = generator(1);
    step = task.step(random);
  }
};

// The first batch of `task`, in float64 where the model is: loss, metrics and gradients of the parts add up to those of
// the whole, with the same random numbers. A score that is not a number (a metric that a batch alone does not have)
// stays so.
inline void require_parts_add_up(ReplayableTask& task, double tolerance) {
  task.start_epoch(0, 0);
  task.take_batch();
  const std::vector<at::Tensor> parameters = task.module().parameters();
  at::Generator whole_random = generator(1);
  RngBuffer whole_seeds(whole_random, at::kCPU);
  const TrainingTask::Step whole = task.compute(whole_seeds);
  const double whole_terms = whole.terms.value_or(static_cast<double>(whole.metrics.items));
  const auto expected = torch::autograd::grad({whole.loss}, parameters, {}, {}, false, true);
  const int64_t items = task.batch_size().items;
  REQUIRE(items >= whole.metrics.items);  // an item without a label does not count
  REQUIRE(task.batch_size().elements > 0);
  for (const int64_t parts : {int64_t{2}, items}) {
    INFO(parts << " parts");
    std::vector<at::Tensor> gradients;
    double loss = 0.0, terms = 0.0;
    MetricSum metrics;
    for (int64_t part = 0; part < parts; ++part) {
      at::Generator random = generator(1);
      RngBuffer seeds(random, at::kCPU);
      const TrainingTask::Step step = task.compute_part(part, parts, seeds);
      require_equal(random.get_state(), whole_random.get_state(), "state of the generator");
      const double here = step.terms.value_or(static_cast<double>(step.metrics.items));
      const auto found = torch::autograd::grad({step.loss * here}, parameters, {}, {}, false, true);
      for (size_t i = 0; i < found.size(); ++i) {
        if (gradients.size() <= i) gradients.emplace_back();
        if (found[i].defined()) gradients[i] = gradients[i].defined() ? gradients[i] + found[i] : found[i];
      }
      loss += here * step.loss.item<double>();
      terms += here;
      metrics.add(step.metrics);
    }
    CHECK(terms == whole_terms);
    CHECK(metrics.items == whole.metrics.items);
    CHECK(loss / terms == Approx(whole.loss.item<double>()).epsilon(tolerance));
    if (std::isnan(whole.metrics.score)) {
      CHECK(std::isnan(metrics.score));
    } else {
      CHECK(metrics.score == Approx(whole.metrics.score).epsilon(tolerance));
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      REQUIRE(gradients[i].defined() == expected[i].defined());
      if (expected[i].defined()) require_close(gradients[i] / terms, expected[i], tolerance, "gradient", 1e-2);
    }
  }
}

// A signal ends a validation of `task` by an error, and the next one is as before.
inline void require_validation_ends_by_signal(TrainingTask& task) {
  install_interrupt_handler();
  std::raise(SIGINT);
  CHECK_THROWS_AS(task.validate(), Interrupted);
  clear_interrupt();
  std::signal(SIGINT, SIG_DFL);
  CHECK(task.validate().has_value());
}

}  // namespace geosft::test
