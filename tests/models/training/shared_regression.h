// SPDX-License-Identifier: Apache-2.0
// A task whose batch several processes share, and what must come of it.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "models/ops/non_finite_error.h"
#include "tests/models/training/small_task.h"

namespace geosft::test::training {

inline constexpr int64_t batch = 8;
inline constexpr double clipping = 0.5;  // below most norms

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
    const double sum = static_cast<double>(end - first) * loss.item<double>();
    if (later) return {loss, {0.0, 0.0, end - first}, at::tensor({sum, -sum}, at::kDouble)};
    return {loss, {sum, -sum, end - first}};
  }
  std::optional<MetricSum> validate() override {
    ++validated;
    if (validated == throws_at) throw std::runtime_error("no data");
    return Regression::validate();
  }
  std::map<std::string, at::Tensor> last_batch() const override { return {{"rows", rows}}; }

  at::Tensor rows;
  int64_t steps = 0, bad_rank = -1, refused_step = -1, nan_step = -1, throws_at = -1;
  int64_t validated = 0;
  bool later = false;  // its sums are read, as those of a task on a GPU are

 private:
  const Communicator& processes_;
};

class WatchingNotes : public Notes {
 public:
  using Notes::Notes;
  void on_non_finite(const NonFiniteStep& step) override {
    events += step.here ? 'N' : 'n';
    error_message = step.error_message;
  }
  std::string error_message;
};

struct RankOutcome {
  std::map<std::string, at::Tensor> state;
  WatchingNotes notes;
  int64_t validated = 0;
  bool done = false;
};

inline TrainingOptions clipped(int64_t epochs) {
  TrainingOptions options = options_of(epochs);
  options.optimization.max_gradient_norm = clipping;
  return options;
}

// One after the other: the weights are drawn from the global generator.
inline std::unique_ptr<SharedRegression> task_of(const Communicator& processes) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return std::make_unique<SharedRegression>(processes);
}

using Arrange = std::function<void(SharedRegression&, int64_t rank)>;

// The part of one process, from a state on where there is one; `stop` is how many steps the last process looks at
// before it stops.
inline RankOutcome train_share(const Communicator& all, int64_t epochs, const Arrange& arrange = {}, int64_t stop = -1,
                               const std::map<std::string, at::Tensor>& from = {}) {
  RankOutcome outcome;
  const std::unique_ptr<SharedRegression> task = task_of(all);
  task->scores = {0.5, 0.4, 0.6};
  if (arrange) arrange(*task, all.rank());
  TrainingLoop loop(*task, clipped(epochs), all);
  if (!from.empty()) loop.load_state(from);
  outcome.notes = WatchingNotes(all.rank() == all.size() - 1 ? stop : -1);
  outcome.done = loop.run(outcome.notes);
  outcome.state = copy_of(loop.state());
  outcome.validated = task->validated;
  return outcome;
}

inline void require_like(const RankOutcome& found, const RankOutcome& expected) {
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

}  // namespace geosft::test::training
