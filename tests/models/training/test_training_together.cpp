// SPDX-License-Identifier: Apache-2.0
// The training loop with several processes, against one with the whole batch.
#include <catch2/catch.hpp>
#include <cmath>

#include "models/ops/non_finite_error.h"
#include "tests/models/training/small_task.h"
#include "tests/models/training/thread_processes.h"

namespace geosft::test::test_training_together {

using namespace training;

namespace {

constexpr int64_t batch = 8;
constexpr double clipping = 0.5;  // below most norms

// The regression of small_task.h on a share of its rows; more processes than rows leave some with a spare one.
class SharedRegression : public Regression {
 public:
  explicit SharedRegression(const Communicator& processes) : processes_(processes) {}
  Step step(at::Generator& generator) override {
    ++steps;
    const int64_t rank = processes_.rank(), size = processes_.size();
    const int64_t first = batch * rank / size, end = batch * (rank + 1) / size;
    rows = at::randn({batch, 4}, generator).slice(0, std::min(first, batch - 1), std::max(end, first + 1));
    if (rank == bad_rank && steps == refused_step) throw NonFiniteError("scores are not finite");
    auto* linear = dynamic_cast<torch::nn::LinearImpl*>(&module());
    at::Tensor loss = (linear->forward(rows).squeeze(1) - rows.sum(1)).square().mean();
    if (rank == bad_rank && steps == nan_step) loss = loss * std::nan("");
    const double items = static_cast<double>(end - first);
    return {loss, {items * loss.item<double>(), -items * loss.item<double>(), end - first}};
  }
  std::optional<Tally> validate() override {
    ++validated;
    if (validated == throws_at) throw std::runtime_error("no data");
    return Regression::validate();
  }
  std::map<std::string, at::Tensor> last_batch() const override { return {{"rows", rows}}; }

  at::Tensor rows;
  int64_t steps = 0, bad_rank = -1, refused_step = -1, nan_step = -1, throws_at = -1;
  int64_t validated = 0;

 private:
  const Communicator& processes_;
};

class WatchingNotes : public Notes {
 public:
  using Notes::Notes;
  void on_non_finite(const NonFiniteStep& step) override {
    events += step.here ? 'N' : 'n';
    refusal = step.refusal;
  }
  std::string refusal;
};

struct Outcome {
  std::map<std::string, at::Tensor> state;
  WatchingNotes notes;
  int64_t validated = 0;
  bool done = false;
};

using Arrange = std::function<void(SharedRegression&, int64_t rank)>;

TrainingOptions clipped(int64_t epochs) {
  TrainingOptions options = options_of(epochs);
  options.optimization.max_gradient_norm = clipping;
  return options;
}

// One after the other: the weights are drawn from the global generator.
std::unique_ptr<SharedRegression> task_of(const Communicator& processes) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return std::make_unique<SharedRegression>(processes);
}

// So many processes, from a state on where there is one; `stop` is how many steps the last one looks at before it
// stops.
std::vector<Outcome> train(int64_t size, int64_t epochs, const Arrange& arrange = {}, int64_t stop = -1,
                           const std::map<std::string, at::Tensor>& from = {}) {
  std::vector<Outcome> outcomes(static_cast<size_t>(size));
  ThreadProcesses(size).run([&](const Communicator& all) {
    Outcome& outcome = outcomes[static_cast<size_t>(all.rank())];
    const std::unique_ptr<SharedRegression> task = task_of(all);
    task->scores = {0.5, 0.4, 0.6};
    if (arrange) arrange(*task, all.rank());
    TrainingLoop loop(*task, clipped(epochs), all);
    if (!from.empty()) loop.load_state(from);
    outcome.notes = WatchingNotes(all.rank() == size - 1 ? stop : -1);
    outcome.done = loop.run(outcome.notes);
    outcome.state = copy_of(loop.state());
    outcome.validated = task->validated;
  });
  return outcomes;
}

void require_like(const Outcome& found, const Outcome& expected) {
  for (const auto& [name, tensor] : expected.state) require_close(found.state.at(name), tensor, 1e-5, name, 1e-2);
  REQUIRE(found.notes.events == expected.notes.events);
  for (size_t i = 0; i < expected.notes.steps.size(); ++i) {
    const StepReport &a = found.notes.steps[i], &b = expected.notes.steps[i];
    REQUIRE((a.epoch == b.epoch && a.step_in_epoch == b.step_in_epoch && a.learning_rate == b.learning_rate));
    REQUIRE(a.epoch_so_far.items == b.epoch_so_far.items);
    REQUIRE(a.epoch_so_far.loss == Approx(b.epoch_so_far.loss).epsilon(1e-5));
    REQUIRE(a.epoch_so_far.score == Approx(b.epoch_so_far.score).epsilon(1e-5));
    REQUIRE(a.gradient_norm == Approx(b.gradient_norm).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("processes with a share each train as one does with the whole batch", "[training_loop]") {
  const Outcome alone = train(1, 3)[0];
  REQUIRE(alone.notes.steps[0].gradient_norm > clipping);
  for (const int64_t size : {2, 3, 10}) {
    const std::vector<Outcome> together = train(size, 3);
    for (const Outcome& outcome : together) {
      REQUIRE(outcome.done);
      require_like(outcome, alone);
      for (const auto& [name, tensor] : together[0].state) require_equal(outcome.state.at(name), tensor, name);
      REQUIRE(outcome.validated == (&outcome == &together[0] ? 3 : 0));
      REQUIRE(outcome.notes.epochs[2].validation->score == alone.notes.epochs[2].validation->score);
      REQUIRE(outcome.notes.epochs[1].best == alone.notes.epochs[1].best);
    }
  }
}

TEST_CASE("a stop of one process stops all, and another number of them goes on", "[training_loop]") {
  const Outcome alone = train(1, 3)[0];
  const std::vector<Outcome> begun = train(3, 3, {}, 7);
  for (const Outcome& outcome : begun) {
    REQUIRE_FALSE(outcome.done);
    REQUIRE(outcome.notes.events == "sssssEss");
  }
  for (const int64_t size : {1, 2}) {
    const auto after_one_validation = [](SharedRegression& task, int64_t) { task.validations = 1; };
    const std::vector<Outcome> rest = train(size, 3, after_one_validation, -1, begun[0].state);
    for (const auto& [name, tensor] : alone.state) require_close(rest[0].state.at(name), tensor, 1e-5, name, 1e-2);
  }
}

TEST_CASE("a loss that is not finite in one process is passed over by all, and shown there", "[training_loop]") {
  for (const bool refused : {true, false}) {
    const std::vector<Outcome> together = train(3, 2, [&](SharedRegression& task, int64_t) {
      task.bad_rank = 1;
      (refused ? task.refused_step : task.nan_step) = 3;
    });
    for (size_t r = 0; r < 3; ++r) {
      REQUIRE(together[r].notes.events == (r == 1 ? "ssNsssEsssssE" : "ssnsssEsssssE"));
      REQUIRE(together[r].notes.epochs[1].step == 9);
      for (const auto& [name, tensor] : together[0].state) {
        if (name != "tally") require_equal(together[r].state.at(name), tensor, name);
      }
    }
    REQUIRE(together[1].notes.refusal == (refused ? "scores are not finite" : ""));
  }
}

TEST_CASE("a validation that fails in the leading process lets the others stop", "[training_loop]") {
  std::vector<int> returned(2, -1);
  std::string error;
  ThreadProcesses(2).run([&](const Communicator& all) {
    const std::unique_ptr<SharedRegression> task = task_of(all);
    task->throws_at = 1;
    TrainingLoop loop(*task, clipped(2), all);
    WatchingNotes notes;
    try {
      returned[static_cast<size_t>(all.rank())] = loop.run(notes) ? 1 : 0;
    } catch (const std::runtime_error& thrown) {
      error = thrown.what();
    }
  });
  REQUIRE(returned == std::vector<int>{-1, 0});
  REQUIRE(error == "no data");
}

TEST_CASE("processes that do not hold the same are told apart", "[training_loop]") {
  const auto spoil = [](SharedRegression& task, int64_t rank) {
    at::NoGradGuard guard;
    if (rank == 1) task.module().parameters()[0].add_(1e-3);
  };
  require_error([&] { train(2, 1, spoil); }, {"processes", "same weights", "epoch 1"});
}

}  // namespace geosft::test::test_training_together
