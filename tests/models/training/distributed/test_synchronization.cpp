// SPDX-License-Identifier: Apache-2.0
// The training loop with several processes, against one with the whole batch.
#include <catch2/catch.hpp>

#include "tests/models/training/distributed/thread_processes.h"
#include "tests/models/training/shared_regression.h"

namespace geosft::test::test_synchronization {

using namespace training;

namespace {

// So many processes, from a state on where there is one; `stop` is how many steps the last one looks at before it
// stops.
std::vector<RankOutcome> train(int64_t size, int64_t epochs, const Arrange& arrange = {}, int64_t stop = -1,
                               const std::map<std::string, at::Tensor>& from = {}) {
  std::vector<RankOutcome> outcomes(static_cast<size_t>(size));
  ThreadProcesses(size).run([&](const Communicator& all) {
    outcomes[static_cast<size_t>(all.rank())] = train_share(all, epochs, arrange, stop, from);
  });
  return outcomes;
}

}  // namespace

TEST_CASE("processes with a share each train as one does with the whole batch", "[training_loop]") {
  const RankOutcome alone = train(1, 3)[0];
  REQUIRE(alone.notes.steps[0].gradient_norm > clipping);
  for (const auto& [size, later] : {std::pair<int64_t, bool>{2, false}, {3, true}, {10, false}}) {
    const auto arrange = [read_later = later](SharedRegression& task, int64_t) { task.later = read_later; };
    const std::vector<RankOutcome> together = train(size, 3, arrange);
    for (const RankOutcome& outcome : together) {
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
  const RankOutcome alone = train(1, 3)[0];
  const std::vector<RankOutcome> begun = train(3, 3, {}, 7);
  for (const RankOutcome& outcome : begun) {
    REQUIRE_FALSE(outcome.done);
    REQUIRE(outcome.notes.events == "sssssEss");
  }
  for (const int64_t size : {1, 2}) {
    const auto after_one_validation = [](SharedRegression& task, int64_t) { task.validations = 1; };
    const std::vector<RankOutcome> rest = train(size, 3, after_one_validation, -1, begun[0].state);
    for (const auto& [name, tensor] : alone.state) require_close(rest[0].state.at(name), tensor, 1e-5, name, 1e-2);
  }
}

TEST_CASE("a step whose loss is not finite in one process is skipped by all, and shown there", "[training_loop]") {
  for (const auto& [refused, later] : {std::pair{true, false}, {false, false}, {true, true}, {false, true}}) {
    const std::vector<RankOutcome> together =
        train(3, 2, [&, wrong = refused, read_later = later](auto& task, int64_t) {
          task.bad_rank = 1;
          task.later = read_later;
          (wrong ? task.refused_step : task.nan_step) = 3;
        });
    for (size_t r = 0; r < 3; ++r) {
      REQUIRE(together[r].notes.events == (r == 1 ? "ssNsssEsssssE" : "ssnsssEsssssE"));
      REQUIRE(together[r].notes.epochs[1].step == 9);
      for (const auto& [name, tensor] : together[0].state) {
        if (name != "tally") require_equal(together[r].state.at(name), tensor, name);
      }
    }
    REQUIRE(together[1].notes.error_message == (refused ? "scores are not finite" : ""));
  }
}

TEST_CASE("an exception of the validation in rank 0 stops the others", "[training_loop]") {
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

TEST_CASE("processes with different weights or positions are an error", "[training_loop]") {
  for (const bool opposite : {false, true}) {  // weights that grow and shrink by the same amount
    const auto spoil = [opposite](SharedRegression& task, int64_t rank) {
      at::NoGradGuard guard;
      const at::Tensor weight = task.module().parameters()[0];
      if (opposite) weight.copy_(at::tensor({0.75, -0.75, 0.75, -0.75}));
      if (rank == 1) weight.add_(0.125);
    };
    require_error([&] { train(2, 1, spoil); }, {"processes", "same weights", "epoch 1"});
  }
}

}  // namespace geosft::test::test_synchronization
