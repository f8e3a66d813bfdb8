// SPDX-License-Identifier: Apache-2.0
#include "models/training/training_loop.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/models/training/small_task.h"

namespace geosft::test::test_training_loop {

using namespace training;

TEST_CASE("steps whose numbers come later are reported in the same order, with the same numbers", "[training_loop]") {
  TrainingOptions options = options_of(2);
  options.optimization.fused = true;
  Regression task;
  Later later;
  TrainingLoop loop(task, options), later_loop(later, options);
  Notes notes, later_notes;
  REQUIRE(loop.run(notes));
  REQUIRE(later_loop.run(later_notes));
  REQUIRE(later_notes.events == "sssssEsssssE");
  for (size_t i = 0; i < 10; ++i) {
    REQUIRE(later_notes.steps[i].step_in_epoch == notes.steps[i].step_in_epoch);
    REQUIRE(later_notes.steps[i].step == notes.steps[i].step);
    REQUIRE(later_notes.steps[i].epoch_so_far.loss == notes.steps[i].epoch_so_far.loss);
    REQUIRE(later_notes.steps[i].gradient_norm == notes.steps[i].gradient_norm);
  }
  REQUIRE(later_notes.epochs[1].training.items == 40);
  for (const auto& [name, tensor] : loop.state()) require_equal(later_loop.state().at(name), tensor, name);
}

TEST_CASE("a loop that is stopped has finalized its last step, and continues from its state", "[training_loop]") {
  TrainingOptions options = options_of(2);
  options.optimization.fused = true;
  Later whole_task, first_task, second_task;
  TrainingLoop whole(whole_task, options), first(first_task, options), second(second_task, options);
  Notes all, begun(2), rest;
  REQUIRE(whole.run(all));
  REQUIRE_FALSE(first.run(begun));
  REQUIRE(first.metrics().items == 24);  // the third step had been enqueued when two were known
  second.load_state(copy_of(first.state()));
  REQUIRE(second.run(rest));
  for (const auto& [name, tensor] : whole.state()) require_equal(second.state().at(name), tensor, name);
}

TEST_CASE("steps run under autocast, in float16 with a scaled loss", "[training_loop]") {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    TrainingOptions options = options_of(2);
    options.autocast = type;
    Regression task;
    TrainingLoop loop(task, options);
    Notes notes;
    REQUIRE(loop.run(notes));
    REQUIRE(std::isfinite(notes.epochs[1].training.mean_loss()));
    REQUIRE(std::isfinite(notes.steps.back().gradient_norm));  // float16 may have left out steps before
    REQUIRE((loop.state().count("optimizer.loss_scale") == 1) == (type == at::kHalf));
    for (const auto& [name, tensor] : loop.state()) {
      if (name.rfind("model.", 0) == 0) REQUIRE(tensor.scalar_type() == at::kFloat);
    }
  }
}

TEST_CASE("a run moves from plain to fused steps and back", "[training_loop]") {
  // Measured: 4.9e-8 where 1e-5 is allowed.
  TrainingOptions plain = options_of(2), fused = options_of(2);
  fused.optimization.fused = true;
  for (const auto& [before, after] : {std::pair(plain, fused), std::pair(fused, plain)}) {
    Regression whole_task, first_task, second_task;
    TrainingLoop whole(whole_task, before), first(first_task, before), second(second_task, after);
    Notes all, begun(7), rest;
    REQUIRE(whole.run(all));
    REQUIRE_FALSE(first.run(begun));
    second.load_state(copy_of(first.state()));
    REQUIRE(second.run(rest));
    for (const char* name : {"model.weight", "optimizer.first_moment.weight", "optimizer.second_moment.bias"}) {
      require_close(second.state().at(name), whole.state().at(name), 1e-5, name);
    }
  }
}

TEST_CASE("the loop reports steps and epochs in order", "[training_loop]") {
  Regression task;
  TrainingLoop loop(task, options_of(2));
  Notes notes;
  REQUIRE(loop.run(notes));
  REQUIRE(notes.events == "sssssEsssssE");
  REQUIRE(task.started == std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 0}});
  for (int64_t i = 0; i < 10; ++i) {
    const StepReport& report = notes.steps[i];
    REQUIRE((report.epoch == i / 5 && report.step_in_epoch == i % 5 + 1 && report.step == i + 1));
    REQUIRE(report.epoch_so_far.items == 8 * (i % 5 + 1));
    REQUIRE((report.learning_rate > 0 && report.gradient_norm > 0));
  }
  REQUIRE((notes.epochs[1].epoch == 1 && notes.epochs[1].step == 10 && notes.epochs[1].training.items == 40));
  REQUIRE(notes.epochs[0].training.loss == notes.steps[4].epoch_so_far.loss);
  REQUIRE((notes.epochs[0].best && notes.epochs[1].best && !notes.epochs[1].validation.has_value()));
  REQUIRE(loop.run(notes));
  REQUIRE(notes.steps.size() == 10);
}

TEST_CASE("a step can be tried without being reported", "[training_loop]") {
  Later task;
  TrainingLoop loop(task, {.epochs = 2});
  CHECK(loop.try_step());
  CHECK(task.started == std::vector<std::pair<int64_t, int64_t>>{{0, 0}});
  CHECK(loop.optimization().steps() == 1);
  CHECK(loop.metrics().items == 0);
}

TEST_CASE("training learns", "[training_loop]") {
  Regression task;
  TrainingOptions options = options_of(30);
  options.optimization.learning_rate = 0.1;
  options.optimization.beta2 = 0.9;
  options.optimization.weight_decay = 0;
  TrainingLoop loop(task, options);
  Notes notes;
  loop.run(notes);
  REQUIRE(notes.epochs.back().training.mean_loss() < 0.01 * notes.epochs.front().training.mean_loss());
}

TEST_CASE("an epoch's report says how long its steps waited for their batches", "[training_loop]") {
  Regression task;
  TrainingLoop loop(task, options_of(3));
  Notes notes;
  loop.run(notes);
  REQUIRE(notes.epochs.size() == 3);
  for (size_t i = 0; i < 3; ++i) REQUIRE(notes.epochs[i].seconds_waited == 0.25 * static_cast<double>(i + 1));
}

TEST_CASE("validation runs every few epochs and after the last", "[training_loop]") {
  Regression task;
  task.scores = {0.5, 0.4, 0.5, 0.6};
  TrainingLoop loop(task, options_of(7, 2));
  Notes notes;
  loop.run(notes);
  std::string validated;
  for (const EpochReport& report : notes.epochs) validated += report.validation.has_value() ? 'v' : '-';
  REQUIRE(validated == "-v-v-vv");
  // Until one is validated every epoch may be the best; equal scores count as best.
  REQUIRE(best_epochs(notes) == "bb---bb");
}

TEST_CASE("an epoch whose score is not a number is the best until one has a score", "[training_loop]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Regression task;
  task.scores = {nan, nan, 0.5, nan, 0.6};
  TrainingLoop loop(task, options_of(5));
  Notes notes;
  loop.run(notes);
  REQUIRE(best_epochs(notes) == "bbb-b");
}

TEST_CASE("validation sees the averaged weights", "[training_loop]") {
  class Watched : public Regression {
   public:
    std::optional<MetricSum> validate() override {
      seen = module().parameters()[0].detach().clone();
      return Regression::validate();
    }
    at::Tensor seen;
  } task;
  TrainingLoop loop(task, options_of(1));
  Notes notes;
  loop.run(notes);
  require_equal(task.seen, loop.state().at("optimizer.average.weight"), "weights");
  REQUIRE_FALSE(at::equal(task.seen, loop.state().at("model.weight")));
}

TEST_CASE("a run that stops and is resumed equals the uninterrupted one bit for bit", "[training_loop]") {
  // The maximum comes before the last stops, and what follows lies below it: only the last epoch is as good.
  const auto scores = std::vector<double>{0.5, 0.9, 0.6, 0.7, 0.9};
  Regression whole_task;
  whole_task.scores = scores;
  TrainingLoop whole(whole_task, options_of(5));
  Notes whole_notes;
  REQUIRE(whole.run(whole_notes));
  REQUIRE(best_epochs(whole_notes) == "bb--b");
  for (const int64_t stop : {0, 1, 5, 8, 10, 14, 17, 22}) {
    INFO("stopped after " << stop << " steps");
    Regression first_task, second_task;
    first_task.scores = scores;
    TrainingLoop first(first_task, options_of(5));
    Notes first_notes(stop);
    REQUIRE_FALSE(first.run(first_notes));
    REQUIRE(static_cast<int64_t>(first_notes.steps.size()) == stop);
    second_task.scores = scores;
    second_task.validations = first_task.validations;
    TrainingOptions other = options_of(5);
    other.seed = 99;  // the generator comes from the state
    TrainingLoop second(second_task, other);
    second.load_state(copy_of(first.state()));
    REQUIRE(second.metrics().items == 8 * (stop % 5));
    Notes second_notes;
    REQUIRE(second.run(second_notes));
    REQUIRE(second_task.started.front() == std::pair<int64_t, int64_t>{stop / 5, stop % 5});
    REQUIRE(static_cast<int64_t>(second_notes.steps.size()) == 25 - stop);
    REQUIRE(second_notes.epochs.back().training.loss == whole_notes.epochs.back().training.loss);
    REQUIRE(best_epochs(first_notes) + best_epochs(second_notes) == "bb--b");
    const auto expected = whole.state(), actual = second.state();
    REQUIRE(actual.size() == expected.size());
    for (const auto& [name, tensor] : expected) require_equal(actual.at(name), tensor, name);
  }
}

TEST_CASE("a validation that is broken off is taken up again", "[training_loop]") {
  class Stopping : public Regression {
   public:
    std::optional<MetricSum> validate() override {
      if (stop) throw std::runtime_error("stop");
      return Regression::validate();
    }
    bool stop = true;
  } task;
  TrainingLoop loop(task, options_of(1));
  Notes notes;
  require_error([&] { loop.run(notes); }, {"stop"});
  task.stop = false;
  TrainingLoop resumed(task, options_of(1));
  resumed.load_state(copy_of(loop.state()));
  REQUIRE(resumed.run(notes));
  REQUIRE(notes.events == "sssssE");
  REQUIRE(notes.epochs[0].training.items == 40);
  REQUIRE(notes.epochs[0].learning_rate == loop.optimization().learning_rate());
  REQUIRE(notes.epochs[0].learning_rate > 0);
}

TEST_CASE("options and states that do not fit are refused", "[training_loop]") {
  Regression task;
  require_error([&] { TrainingLoop(task, options_of(0)); }, {"epochs", "0"});
  require_error([&] { TrainingLoop(task, options_of(1, 0)); }, {"validate_every", "0"});
  TrainingLoop loop(task, options_of(1));
  const auto good = copy_of(loop.state());
  const auto refuses = [&](const std::string& name, const at::Tensor& value, const std::vector<std::string>& words) {
    auto bad = good;
    bad.erase(name);
    if (value.defined()) bad[name] = value;
    require_error([&] { loop.load_state(bad); }, words);
  };
  refuses("generator", {}, {"generator"});
  refuses("position", {}, {"position"});
  refuses("tally", at::zeros({2}, at::kDouble), {"position"});
  refuses("model.weight", {}, {"weight", "configuration"});
  refuses("model.weight", at::zeros({2, 2}), {"weight", "[2, 2]", "[1, 4]"});
  refuses("model.more", at::zeros({1}), {"more", "configuration"});
}

}  // namespace geosft::test::test_training_loop
