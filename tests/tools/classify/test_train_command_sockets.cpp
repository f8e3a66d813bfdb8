// SPDX-License-Identifier: Apache-2.0
// Training by processes that torchrun's variables connect, without MPI.
#include <catch2/catch.hpp>

#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/experiment/concurrent_processes.h"
#include "tests/tools/experiment/like_runs.h"

namespace geosft::test::test_train_command_sockets {
namespace fs = std::filesystem;

namespace {

constexpr double tolerance = 1e-4;  // rounding, which grows with every step

// 12 clouds in batches of 6, of all processes together.
Words train(const Workshop& shop, const std::string& out, size_t processes, const Words& more = {}) {
  return shop.train(out,
                    Words{"--epochs", "6", "--checkpoint-every", "2", "--drop-token-rate", "0.1", "--beta2", "0.9"} +
                        Words{"--batch-size", std::to_string(6 / processes)} + more);
}

std::vector<ProcessResult> run_together(const Workshop& shop, size_t processes, const Words& words) {
  return ConcurrentProcesses(processes, shop.program(), words, shop.process()).wait();
}

// Starts two processes, lets something happen to them in the middle of their training, and waits for them.
std::vector<ProcessResult> train_until(const Workshop& shop, const Words& words, const fs::path& run,
                                       const std::function<void(const ConcurrentProcesses&)>& event) {
  const auto start = [&] { return std::make_unique<ConcurrentProcesses>(2, shop.program(), words, shop.process()); };
  const auto processes_of = [](const ConcurrentProcesses& started) {
    return std::vector{started[0].id(), started[1].id()};
  };
  return started_until(run / "metrics.csv", 6, start, processes_of, event)->wait();
}

void train_well(const Workshop& shop, size_t processes, const Words& words) {
  const std::vector<ProcessResult> results = run_together(shop, processes, words);
  for (size_t rank = 0; rank < processes; ++rank) {
    INFO("process " << rank << ": " << results[rank].err);
    REQUIRE(results[rank].exit == 0);
    CHECK((rank == 0 || (results[rank].out.empty() && results[rank].err.empty())));
  }
  CHECK_THAT(results[0].err, Catch::Contains(std::to_string(processes) + " processes"));
}

}  // namespace

TEST_CASE("processes that variables connect train as one does, with the same bits every time", "[processes]") {
  const ClassifyShop shop;
  shop.run_well(train(shop, "one", 1));
  for (const size_t processes : {2, 3}) {
    const std::string out = std::to_string(processes);
    for (const std::string& run : {out, out + "_again"}) train_well(shop, processes, train(shop, run, processes));
    require_like_run(shop / "one", shop / out, tolerance);
    require_same_run(shop / out, shop / (out + "_again"));
  }
}

TEST_CASE("a lost one of the processes that variables connect stops all, and another number goes on", "[processes]") {
  const ClassifyShop shop;
  const Words longer = {"--epochs", "16"};
  shop.run_well(train(shop, "one", 1, longer));
  for (const size_t lost : {0, 1}) {
    const fs::path run = shop / ("lost" + std::to_string(lost));
    const ProcessResult left =
        train_until(shop, train(shop, run.filename().string(), 2, longer), run,
                    [&](const ConcurrentProcesses& started) { started[lost].send(SIGKILL); })[1 - lost];
    shop.require_failure(left, 1, {"process " + std::to_string(lost) + " of 2 has ended"});
    train_well(shop, 3, {"train", "--resume", "--out", run.string()});
    require_like_run(shop / "one", run, 10 * tolerance);
  }
  const fs::path run = shop / "stopped";
  const std::vector<ProcessResult> stopped =
      train_until(shop, train(shop, "stopped", 2, longer), run,
                  [](const ConcurrentProcesses& started) { started[1].send(SIGTERM); });
  CHECK(stopped[0].exit == 130);
  CHECK(count_of(stopped[0].err + stopped[1].err, "interrupted: saved in") == 1);
  shop.run_well({"train", "--resume", "--out", run.string()});
  require_like_run(shop / "one", run, 10 * tolerance);
}

TEST_CASE("a command that torchrun starts again goes on by itself, also with another number of processes",
          "[processes]") {
  const ClassifyShop shop;
  const Words longer = {"--epochs", "16"}, command = train(shop, "run", 2, longer);
  shop.run_well(train(shop, "one", 1, longer));
  const fs::path run = shop / "run";
  const EnvironmentVariable torchrun("TORCHELASTIC_RUN_ID", "none");
  {
    const EnvironmentVariable count("TORCHELASTIC_RESTART_COUNT", "0");
    const std::vector<ProcessResult> ended =
        train_until(shop, command, run, [](const ConcurrentProcesses& started) { started[1].send(SIGKILL); });
    CHECK(ended[0].exit == 1);
  }
  const EnvironmentVariable count("TORCHELASTIC_RESTART_COUNT", "1");
  train_well(shop, 3, command);
  require_like_run(shop / "one", run, 10 * tolerance);
  CHECK(read_text(run / "config.toml") == read_text(shop / "one" / "config.toml"));
}

TEST_CASE("only the run of the same command goes on by itself", "[processes]") {
  const ClassifyShop shop;
  const auto again = [&](const Words& more = {}) { return shop.train("run", more); };
  shop.run_well(again());
  const std::string before = read_text(shop / "run" / "metrics.csv");
  shop.refuses(again(), 2, {"holds a run already"});
  for (const char* const variable : {"TORCHELASTIC_RUN_ID", "SLURM_RESTART_COUNT"}) {
    const EnvironmentVariable launcher(variable, "1");
    CHECK_THAT(shop.run_well(again()).err, Catch::Contains("started again: going on with the run in"));
    CHECK(read_text(shop / "run" / "metrics.csv") == before);  // there was nothing left to do
    shop.refuses(again({"--dim", "8"}), 2, {"run of another configuration", "resume it"});
    shop.run_well(shop.train("other_" + std::string(variable)));  // a new one begins
  }
}

TEST_CASE("what processes that variables connect refuse is said once", "[processes]") {
  const ClassifyShop shop;
  const Words well = train(shop, "run", 2), badly = well + Words{"--data", (shop / "nothing").string()};
  const auto refused = [&](const Words& first, const Words& second, const std::string& expected) {
    std::string said;
    for (const ProcessResult& result : ConcurrentProcesses(shop.program(), {first, second}, shop.process()).wait()) {
      CHECK((result.exit == 1 || result.exit == 2));
      said += result.err;
    }
    INFO(said);
    CHECK(count_of(said, "geosft-classify: error: ") == 1);
    CHECK_THAT(said, Catch::Contains(expected));
    fs::remove_all(shop / "run");
  };
  refused(well + Words{"--num-heads", "3"}, well + Words{"--num-heads", "3"}, "heads");
  refused(well, badly, "nothing");
  refused(badly, well, "nothing");
}

}  // namespace geosft::test::test_train_command_sockets
