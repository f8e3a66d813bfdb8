// SPDX-License-Identifier: Apache-2.0
#include "models/training/training_task.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_training_task {

TEST_CASE("metric sums add up", "[training_task]") {
  MetricSum metrics;
  REQUIRE((metrics.mean_loss() == 0.0 && metrics.mean_score() == 0.0));
  metrics.add({6.0, 2.0, 4});
  metrics.add({2.0, 2.0, 4});
  REQUIRE((metrics.mean_loss() == 1.0 && metrics.mean_score() == 0.5 && metrics.items == 8));
}

TEST_CASE("a step on the CPU has its numbers at once", "[training_task]") {
  const at::Tensor loss = at::full({}, 1.5), score = at::full({}, 3, at::kLong);
  const TrainingTask::Step step = measured_step(loss, score, 4, 7.0);
  CHECK(step.loss.is_same(loss));
  CHECK((step.metrics.loss == 6.0 && step.metrics.score == 3.0 && step.metrics.items == 4));
  CHECK_FALSE(step.sums.defined());
  CHECK(step.terms == 7.0);
}

TEST_CASE("a step elsewhere leaves its numbers there, without gradients", "[training_task]") {
  const auto elsewhere = at::TensorOptions().device(at::kMeta);
  const at::Tensor loss = at::empty({}, elsewhere).requires_grad_(true);
  const TrainingTask::Step step = measured_step(loss, at::empty({}, elsewhere.dtype(at::kLong)), 4);
  CHECK(step.metrics.items == 4);
  CHECK(step.sums.sizes() == at::IntArrayRef{2});
  CHECK((step.sums.scalar_type() == at::kDouble && step.sums.device().is_meta()));
  CHECK_FALSE(step.sums.requires_grad());
  CHECK_FALSE(step.terms.has_value());
}

}  // namespace geosft::test::test_training_task
