// SPDX-License-Identifier: Apache-2.0
#include "models/training/split_step.h"

#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "models/ops/non_finite_error.h"
#include "models/training/training_loop.h"
#include "tests/models/training/small_task.h"
#include "tests/support.h"

namespace geosft::test::test_split_step {
namespace {

// Regression on rows of 64 numbers, an item each, noise on each from the step's seeds. float64.
class Rows : public ReplayableTask {
 public:
  explicit Rows(int64_t items, int64_t elements = int64_t{1} << 22) : items_(items), elements_(elements) {
    manual_seed(3);
    linear_ = torch::nn::Linear(64, 1);
    linear_->to(at::kDouble);
    unused_ = linear_->register_parameter("unused", at::ones({2}, at::kDouble));
  }
  torch::nn::Module& module() override { return *linear_; }
  int64_t steps_per_epoch() const override { return 40; }
  void start_epoch(int64_t, int64_t first_step) override { batch_ = first_step; }
  std::optional<MetricSum> validate() override { return std::nullopt; }
  void take_batch() override {
    at::Generator random = generator(static_cast<uint64_t>(batch_++));
    x_ = at::randn({items_, 64}, random, at::TensorOptions().dtype(at::kDouble));
  }
  StepInputs inputs() override { return {}; }
  BatchSize batch_size() const override { return {items_, elements_}; }
  Step compute(RngBuffer& seeds) override { return compute_part(0, 1, seeds); }
  Step compute_part(int64_t part, int64_t parts, RngBuffer& seeds) override {
    parts_seen = parts;
    const int64_t begin = part * items_ / parts, end = (part + 1) * items_ / parts;
    const at::Tensor noise = seeds.next(items_).remainder(1000).to(at::kDouble) / 1000;
    if (refusing >= begin && refusing < end) throw NonFiniteError("item " + std::to_string(refusing));
    const at::Tensor x = x_.slice(0, begin, end);
    const at::Tensor error = linear_->forward(x).squeeze(1) - x.sum(1) - noise.slice(0, begin, end);
    const int64_t known = without_terms ? 0 : end - begin;
    const at::Tensor loss = known == 0 ? error.sum() * 0.0 : error.square().mean();
    return {
        loss,
        {loss.item<double>() * static_cast<double>(end - begin), 1.0 * static_cast<double>(end - begin), end - begin},
        {},
        static_cast<double>(known)};
  }

  std::atomic<int64_t> parts_seen = 0;
  int64_t refusing = -1;
  bool without_terms = false;

 private:
  int64_t items_, elements_, batch_ = 0;
  torch::nn::Linear linear_{nullptr};
  at::Tensor unused_, x_;
};

at::Tensor as_it_is(const at::Tensor& loss) {
  return loss;
}

struct Found {
  SplitStep::Result result;
  std::vector<at::Tensor> gradients;
  at::Tensor generator_state;
};

Found one_step(Rows& task, int64_t threads) {
  task.start_epoch(0, 0);
  task.take_batch();
  for (at::Tensor& parameter : task.module().parameters()) parameter.mutable_grad() = at::Tensor();
  SplitStep step(task.module().parameters(), std::nullopt, threads);
  at::Generator random = generator(5);
  Found found;
  found.result = step.run(task, random, as_it_is);
  for (const at::Tensor& parameter : task.module().parameters()) found.gradients.push_back(parameter.grad());
  found.generator_state = random.get_state();
  return found;
}

}  // namespace

TEST_CASE("a batch is split by its size alone", "[split_step]") {
  constexpr int64_t smallest = 131072;
  CHECK(split_parts({}) == 1);
  CHECK(split_parts({16, 0}) == 1);
  CHECK(split_parts({16, 2 * smallest - 1}) == 1);
  CHECK(split_parts({16, 2 * smallest}) == 2);
  CHECK(split_parts({16, 4 * smallest - 1}) == 2);
  CHECK(split_parts({16, 8 * smallest}) == 8);
  CHECK(split_parts({5, 8 * smallest}) == 4);
  CHECK(split_parts({1, 8 * smallest}) == 1);
  CHECK(split_parts({64, int64_t{1} << 40}) == 16);
}

TEST_CASE("parts give the loss and the gradient of the whole batch, the same bits for any number of threads",
          "[split_step]") {
  Rows whole(21, 0), split(21);  // no elements: not split
  const Found expected = one_step(whole, 1);
  CHECK(whole.parts_seen == 1);
  const Found first = one_step(split, 1);
  CHECK(split.parts_seen == 16);
  CHECK(first.result.metrics.items == 21);
  CHECK(first.result.metrics.score == 21);
  // Float64 sums of 21 terms in another order. The mean magnitude of the terms of a gradient is at most twice the root
  // of the loss, times that of an input's squares: relative to the former, sums of 21 terms and of 64 products differ
  // by 2 * (21 + 64) * 2^-53 = 1.9e-14. A gradient itself may be next to 0.
  const double terms = 2 * std::sqrt(expected.result.metrics.loss / 21);
  CHECK(first.result.metrics.loss == Approx(expected.result.metrics.loss).epsilon(1e-14));
  require_equal(first.generator_state, expected.generator_state, "state of the generator");
  REQUIRE(first.gradients.size() == 3);
  for (size_t i = 0; i < 2; ++i) require_close(first.gradients[i], expected.gradients[i], 1e-13, "gradient", terms);
  CHECK_FALSE(first.gradients[2].defined());
  for (const int64_t threads : {2, 3, 16}) {
    const Found again = one_step(split, threads);
    CHECK(again.result.metrics.loss == first.result.metrics.loss);
    for (size_t i = 0; i < 2; ++i) require_equal(again.gradients[i], first.gradients[i], "gradient");
  }
}

TEST_CASE("a step that a part refuses has no gradient, and leaves the generator where it was", "[split_step]") {
  Rows task(8);
  task.refusing = 5;
  const Found found = one_step(task, 2);
  CHECK(found.result.error_message.find("item 5") != std::string::npos);
  for (const at::Tensor& gradient : found.gradients) CHECK_FALSE(gradient.defined());
  require_equal(found.generator_state, generator(5).get_state(), "state of the generator");
  task.refusing = -1;
  CHECK(one_step(task, 2).result.error_message.empty());
}

TEST_CASE("a batch without terms has zero gradients", "[split_step]") {
  Rows task(8);
  task.without_terms = true;
  const Found found = one_step(task, 2);
  CHECK(found.result.metrics.loss == 0.0);
  for (const at::Tensor& gradient : found.gradients) {
    REQUIRE(gradient.defined());
    CHECK(gradient.count_nonzero().item<int64_t>() == 0);
  }
}

TEST_CASE("a trial tries 1, 2, 4, … and all threads in turn, and chooses the fastest for the work done",
          "[split_step]") {
  ThreadTrial trial(6);
  CHECK(trial.threads() == 6);
  trial.record(100.0, 1.0);  // the first two steps do not count
  CHECK(trial.threads() == 6);
  trial.record(100.0, 1.0);
  const std::map<int64_t, double> seconds = {{1, 8.0}, {2, 5.0}, {4, 4.0}, {6, 4.5}};
  std::string order;
  for (int turn = 0; turn < 16; ++turn) {
    REQUIRE_FALSE(trial.finished());
    const int64_t threads = trial.threads();
    order += std::to_string(threads);
    const double elements = 1.0 + turn % 3;  // batches differ in size
    trial.record(1e-3 * seconds.at(threads) * elements, elements);
  }
  CHECK(order == "1246124612461246");
  REQUIRE(trial.finished());
  CHECK(trial.threads() == 4);
  CHECK(trial.text().find("4 threads (1: ") == 0);
  trial.record(1.0, 1.0);
  CHECK(trial.threads() == 4);
}

TEST_CASE("a trial stays with fewer threads that are as fast", "[split_step]") {
  ThreadTrial trial(2);
  for (int turn = 0; turn < 10; ++turn) trial.record(trial.threads() == 2 ? 0.98 : 1.0, 1.0);
  CHECK(trial.threads() == 1);
  CHECK(trial.text() == "1 thread (1: 1e+03 ms, 2: 980 ms a step)");
  ThreadTrial alone(1);
  CHECK(alone.threads() == 1);
}

TEST_CASE("a run has the same bits with any number of threads, and says once how many were fastest", "[split_step]") {
  class Told : public training::Notes {
   public:
    void on_threads_chosen(const std::string& text) override { texts.push_back(text); }
    std::vector<std::string> texts;
  };
  std::map<std::string, at::Tensor> expected;
  for (const int64_t threads : {1, 2, 0}) {
    TrainingOptions options = training::options_of(1);
    options.threads = threads;
    Rows task(21);
    const IntraOpThreads two(2);  // what 0 may choose from
    TrainingLoop loop(task, options);
    Told told;
    REQUIRE(loop.run(told));
    CHECK(told.texts.size() == (threads == 0 ? 1 : 0));
    if (expected.empty()) expected = training::copy_of(loop.state());
    for (const auto& [name, tensor] : loop.state()) require_equal(tensor, expected.at(name), name);
  }
}

TEST_CASE("parts leave out parameters that need no gradient", "[split_step]") {
  Rows whole(32), frozen(32);
  frozen.module().parameters()[0].set_requires_grad(false);
  const Found expected = one_step(whole, 2), found = one_step(frozen, 2);
  REQUIRE(frozen.parts_seen == 16);
  REQUIRE_FALSE(frozen.module().parameters()[0].grad().defined());
  require_equal(frozen.module().parameters()[1].grad(), whole.module().parameters()[1].grad(), "gradient");
}

}  // namespace geosft::test::test_split_step
