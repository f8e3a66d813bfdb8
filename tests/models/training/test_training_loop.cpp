// SPDX-License-Identifier: Apache-2.0
#include "models/training/training_loop.h"

#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "models/ops/non_finite_error.h"
#include "tests/support.h"

namespace geosft::test::test_training_loop {
namespace {

// Regression on random rows, drawn from the loop's generator.
class Regression : public TrainingTask {
 public:
  Regression() {
    at::manual_seed(2);
    linear_ = torch::nn::Linear(4, 1);
  }
  torch::nn::Module& module() override { return *linear_; }
  int64_t steps_per_epoch() const override { return 5; }
  void start_epoch(int64_t epoch, int64_t first_step) override { started.emplace_back(epoch, first_step); }
  Step step(at::Generator& generator) override {
    REQUIRE(linear_->is_training());
    const at::Tensor x = at::randn({8, 4}, generator);
    const at::Tensor loss = (linear_->forward(x).squeeze(1) - x.sum(1)).square().mean() * factor;
    return {loss, {8 * loss.item<double>(), -8 * loss.item<double>(), 8}};
  }
  std::optional<Tally> validate() override {
    REQUIRE_FALSE(linear_->is_training());
    if (scores.empty()) return std::nullopt;
    const double score = scores[validations++ % scores.size()];
    return Tally{0.0, 10 * score, 10};
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
    return {now.loss, {0.0, 0.0, now.tally.items}, at::tensor({now.tally.loss, now.tally.score}, at::kDouble)};
  }
};

std::map<std::string, at::Tensor> copy_of(const std::map<std::string, at::Tensor>& state) {
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

TrainingOptions options_of(int64_t epochs, int64_t validate_every = 1) {
  TrainingOptions options;
  options.epochs = epochs;
  options.validate_every = validate_every;
  options.seed = 3;
  options.optimization.average_decay = 0.9;
  return options;
}

}  // namespace

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

TEST_CASE("a loop that is stopped has settled its last step, and goes on from its state", "[training_loop]") {
  TrainingOptions options = options_of(2);
  options.optimization.fused = true;
  Later whole_task, first_task, second_task;
  TrainingLoop whole(whole_task, options), first(first_task, options), second(second_task, options);
  Notes all, begun(2), rest;
  REQUIRE(whole.run(all));
  REQUIRE_FALSE(first.run(begun));
  REQUIRE(first.tally().items == 24);  // the third step had been enqueued when two were known
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

TEST_CASE("validation runs every few epochs and after the last", "[training_loop]") {
  Regression task;
  task.scores = {0.5, 0.4, 0.5, 0.6};
  TrainingLoop loop(task, options_of(7, 2));
  Notes notes;
  loop.run(notes);
  std::string validated, best;
  for (const EpochReport& report : notes.epochs) {
    validated += report.validation.has_value() ? 'v' : '-';
    best += report.best ? 'b' : '-';
  }
  REQUIRE(validated == "-v-v-vv");
  // Until one is validated every epoch may be the best; equal scores count as best.
  REQUIRE(best == "bb---bb");
}

TEST_CASE("validation sees the averaged weights", "[training_loop]") {
  class Watched : public Regression {
   public:
    std::optional<Tally> validate() override {
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
  const auto scores = std::vector<double>{0.5, 0.4, 0.6};
  Regression whole_task;
  whole_task.scores = scores;
  TrainingLoop whole(whole_task, options_of(3));
  Notes whole_notes;
  REQUIRE(whole.run(whole_notes));
  for (const int64_t stop : {0, 1, 5, 8, 14}) {
    INFO("stopped after " << stop << " steps");
    Regression first_task, second_task;
    first_task.scores = scores;
    TrainingLoop first(first_task, options_of(3));
    Notes first_notes(stop);
    REQUIRE_FALSE(first.run(first_notes));
    REQUIRE(static_cast<int64_t>(first_notes.steps.size()) == stop);
    second_task.scores = scores;
    second_task.validations = first_task.validations;
    TrainingOptions other = options_of(3);
    other.seed = 99;  // the generator comes from the state
    TrainingLoop second(second_task, other);
    second.load_state(copy_of(first.state()));
    REQUIRE(second.tally().items == 8 * (stop % 5));
    Notes second_notes;
    REQUIRE(second.run(second_notes));
    REQUIRE(second_task.started.front() == std::pair<int64_t, int64_t>{stop / 5, stop % 5});
    REQUIRE(static_cast<int64_t>(second_notes.steps.size()) == 15 - stop);
    REQUIRE(second_notes.epochs.back().training.loss == whole_notes.epochs.back().training.loss);
    REQUIRE(second_notes.epochs.back().best == whole_notes.epochs.back().best);
    const auto expected = whole.state(), actual = second.state();
    REQUIRE(actual.size() == expected.size());
    for (const auto& [name, tensor] : expected) require_equal(actual.at(name), tensor, name);
  }
}

TEST_CASE("a run whose gradients are never finite ends with an error", "[training_loop]") {
  Regression task;
  task.factor = std::nan("");
  TrainingLoop loop(task, options_of(100));
  Notes notes;
  require_error([&] { loop.run(notes); }, {"diverged in epoch 4", "not finite in 20 steps", "learning_rate"});
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

TEST_CASE("a model that refuses its own scores has diverged", "[training_loop]") {
  class Refusing : public Regression {
   public:
    Step step(at::Generator& generator) override {
      if (in_steps) throw NonFiniteError("score must be finite, found NaN or infinity");
      return Regression::step(generator);
    }
    std::optional<Tally> validate() override { throw NonFiniteError("score must be finite, found NaN or infinity"); }
    bool in_steps = true;
  } task;
  Notes notes;
  TrainingLoop steps(task, options_of(9));
  require_error([&] { steps.run(notes); },
                {"diverged in epoch 4", "20 steps", "score must be finite", "learning_rate"});
  REQUIRE(std::isnan(notes.epochs[0].training.mean_loss()));
  task.in_steps = false;
  TrainingLoop validation(task, options_of(9));
  require_error([&] { validation.run(notes); }, {"diverged in epoch 1", "validation", "score must be finite"});
}

TEST_CASE("a validation that is broken off is taken up again", "[training_loop]") {
  class Stopping : public Regression {
   public:
    std::optional<Tally> validate() override {
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

TEST_CASE("tallies add up", "[training_loop]") {
  Tally tally;
  REQUIRE((tally.mean_loss() == 0.0 && tally.mean_score() == 0.0));
  tally.add({6.0, 2.0, 4});
  tally.add({2.0, 2.0, 4});
  REQUIRE((tally.mean_loss() == 1.0 && tally.mean_score() == 0.5 && tally.items == 8));
}

}  // namespace geosft::test::test_training_loop
