// SPDX-License-Identifier: Apache-2.0
// Steps of the training loop whose loss or gradient is not finite.
#include <catch2/catch.hpp>
#include <cmath>

#include "models/ops/non_finite_error.h"
#include "tests/models/training/small_task.h"

namespace geosft::test::test_non_finite_steps {

using namespace training;

TEST_CASE("a run whose gradients are never finite ends with an error", "[training_loop]") {
  Regression task;
  task.factor = std::nan("");
  TrainingLoop loop(task, options_of(100));
  Notes notes;
  require_error([&] { loop.run(notes); }, {"diverged in epoch 4", "not finite in 20 steps", "learning rate"});
  REQUIRE(notes.steps.size() == 19);
  REQUIRE(notes.epochs.size() == 3);
  for (const EpochReport& report : notes.epochs) {
    REQUIRE((report.diverging && report.step == 0 && std::isnan(report.training.mean_loss())));
  }
}

TEST_CASE("a run that ends in an epoch without a finite gradient ends with an error", "[training_loop]") {
  Regression task;
  TrainingLoop loop(task, options_of(3));
  Notes notes(5);
  REQUIRE_FALSE(loop.run(notes));
  task.factor = std::nan("");
  Notes rest;
  require_error([&] { loop.run(rest); }, {"diverged in epoch 3", "10 steps"});
  REQUIRE(rest.events == "sssssEsssssE");
  REQUIRE((rest.epochs[1].step == 5 && rest.epochs[1].diverging));
  // The last epoch alone.
  Regression other;
  TrainingLoop late(other, options_of(2));
  Notes begun(5);
  REQUIRE_FALSE(late.run(begun));
  other.factor = std::nan("");
  require_error([&] { late.run(rest); }, {"diverged in epoch 2", "5 steps"});
}

TEST_CASE("the count of steps in a row that are not finite goes on after a resume", "[training_loop]") {
  class Shown : public Notes {
   public:
    using Notes::Notes;
    void on_non_finite(const NonFiniteStep& step) override { in_a_row.push_back(step.in_a_row); }
    std::vector<int64_t> in_a_row;
  };
  Regression first_task, second_task, third_task;
  first_task.factor = second_task.factor = std::nan("");
  TrainingLoop first(first_task, options_of(100)), second(second_task, options_of(100));
  Shown begun(12), rest;
  REQUIRE_FALSE(first.run(begun));
  REQUIRE(begun.in_a_row.back() == 12);
  second.load_state(copy_of(first.state()));
  require_error([&] { second.run(rest); }, {"diverged in epoch 4", "not finite in 20 steps"});
  REQUIRE(rest.in_a_row == std::vector<int64_t>{13, 14, 15, 16, 17, 18, 19, 20});
  // A resumed run whose first step is finite begins to count anew.
  TrainingLoop third(third_task, options_of(3));
  third.load_state(copy_of(first.state()));
  Shown finite;
  REQUIRE(third.run(finite));
  REQUIRE(finite.in_a_row.empty());
  REQUIRE_FALSE(finite.epochs.front().diverging);
  REQUIRE(third.state().at("position")[3].item<int64_t>() == 0);
}

TEST_CASE("a gradient that is not finite now and then does not end a run", "[training_loop]") {
  class Flickering : public Regression {
   public:
    Step step(at::Generator& generator) override {
      factor = ++count % 5 == 0 ? std::nan("") : 1.0;
      return Regression::step(generator);
    }
    int64_t count = 0;
  } task;
  TrainingLoop loop(task, options_of(10));
  Notes notes;
  REQUIRE(loop.run(notes));
  REQUIRE(notes.epochs[8].diverging);  // the last step of an epoch was not finite
  REQUIRE_FALSE(notes.epochs[9].diverging);
  REQUIRE(notes.epochs[9].step == 40);
}

TEST_CASE("a step whose loss is not finite is shown with its batch, and may end the run", "[training_loop]") {
  class Broken : public Regression {
   public:
    Step step(at::Generator& generator) override {
      ++count;
      factor = count == 8 || count == 9 ? std::nan("") : 1.0;
      return Regression::step(generator);
    }
    std::map<std::string, at::Tensor> last_batch() const override { return {{"count", at::tensor(count)}}; }
    int64_t count = 0;
  };
  class Shown : public Notes {
   public:
    void on_non_finite(const NonFiniteStep& step) override {
      events += '!';
      seen.push_back(step);
    }
    std::vector<NonFiniteStep> seen;
  };
  Broken passed, stopped;
  Shown notes, until;
  TrainingLoop loop(passed, options_of(2));
  REQUIRE(loop.run(notes));
  REQUIRE(notes.events == "sssssEss!s!ssE");
  REQUIRE(notes.seen.size() == 2);
  REQUIRE((notes.seen[0].step.epoch == 1 && notes.seen[0].step.step_in_epoch == 3 && notes.seen[0].in_a_row == 1));
  REQUIRE(notes.seen[1].in_a_row == 2);
  REQUIRE(notes.seen[1].batch.at("count").item<int64_t>() == 9);

  TrainingOptions options = options_of(2);
  options.stop_at_non_finite = true;
  TrainingLoop strict(stopped, options);
  require_error([&] { strict.run(until); }, {"not finite in step 3 of epoch 2", "to stop there"});
  REQUIRE(until.events == "sssssEss!");
  REQUIRE(until.seen[0].batch.at("count").item<int64_t>() == 8);
}

TEST_CASE("an overflow of a scaled loss is no step to stop at, a loss that is not finite is", "[training_loop]") {
  TrainingOptions options = options_of(4);
  options.stop_at_non_finite = true;
  options.autocast = at::kHalf;
  Regression task;
  task.factor = 64;  // the first scales are too large for it
  TrainingLoop loop(task, options);
  Notes notes;
  REQUIRE(loop.run(notes));
  REQUIRE_FALSE(std::isfinite(notes.steps.front().gradient_norm));
  Regression broken;
  broken.factor = std::nan("");
  TrainingLoop stopped(broken, options);
  require_error([&] { stopped.run(notes); }, {"not finite in step 1 of epoch 1"});
}

TEST_CASE("a model that throws NonFiniteError in every step has diverged", "[training_loop]") {
  class Refusing : public Regression {
   public:
    Step step(at::Generator& generator) override {
      if (in_steps) throw NonFiniteError("score must be finite, found NaN or infinity");
      return Regression::step(generator);
    }
    std::optional<MetricSum> validate() override {
      throw NonFiniteError("score must be finite, found NaN or infinity");
    }
    bool in_steps = true;
  } task;
  Notes notes;
  TrainingLoop steps(task, options_of(9));
  require_error([&] { steps.run(notes); },
                {"diverged in epoch 4", "20 steps", "score must be finite", "learning rate"});
  REQUIRE(std::isnan(notes.epochs[0].training.mean_loss()));
  task.in_steps = false;
  TrainingLoop validation(task, options_of(9));
  require_error([&] { validation.run(notes); }, {"diverged in epoch 1", "validation", "score must be finite"});
}

}  // namespace geosft::test::test_non_finite_steps
