// SPDX-License-Identifier: Apache-2.0
// Training by several processes, against one with the batch that they have together.
#include <catch2/catch.hpp>

#include "tests/places.h"
#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/experiment/like_runs.h"
#include "tests/tools/experiment/mpirun.h"

namespace geosft::test::test_train_command_processes {
namespace fs = std::filesystem;

namespace {

// Rounding grows with every step; a run that learns nothing is 1e-2 apart.
constexpr double tolerance = 1e-4;

// With every random part switched on; 12 clouds in batches of 6, of which every third is for validation.
const Words random_run = Words{"--epochs", "6", "--validation-fraction", "0.2", "--validate-every", "2"} +
                         Words{"--checkpoint-every", "2", "--ema-decay", "0.9", "--drop-token-rate", "0.1"} +
                         Words{"--jitter", "0.01", "--rotate-training", "so3", "--lr", "3e-3"} +
                         Words{"--beta2", "0.9"};

// Of all processes together; each of `processes` has its part of it.
Words train(const ClassifyShop& shop, const std::string& out, int processes, const Words& more = {}) {
  return shop.train(out, random_run + Words{"--batch-size", std::to_string(6 / processes)} + more);
}

ProcessResult run_well(const ClassifyShop& shop, int processes, const Words& words) {
  ProcessResult result = run_mpirun(processes, program_path("geosft-classify"), words, shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  return result;
}

}  // namespace

TEST_CASE("processes train as one does with their batches together", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  shop.run_well(train(shop, "one", 1));
  for (const int processes : {2, 3}) {
    const std::string out = std::to_string(processes);
    const ProcessResult result = run_well(shop, processes, train(shop, out, processes, {"--json"}));
    require_like_run(shop / "one", shop / out, tolerance);
    CHECK(read_text(shop / out / "config.toml") == read_text(shop / "one" / "config.toml"));
    CHECK(lines_of(result.out).size() == 1);  // rank 0 prints, alone
    check_evaluation(nlohmann::json::parse(result.out), "none", 1);
    CHECK(count_of(result.err, "training on") == 1);
    CHECK_THAT(result.err, Catch::Contains(out + " processes"));
  }
}

TEST_CASE("a process that is lost stops all, and another number of them goes on", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  const Words longer = {"--epochs", "16"};
  shop.run_well(train(shop, "one", 1, longer));
  const fs::path killed = shop / "killed", stopped = shop / "stopped";
  const MpirunEnvironment environment;
  const auto until = [&](const fs::path& run, const std::function<void(const Process&)>& event) {
    return train_until("/bin/sh",
                       mpirun(2, program_path("geosft-classify"), train(shop, run.filename().string(), 2, longer)),
                       shop.process(), run / "metrics.csv", 6, event,
                       [](const Process& started) { return children_of(started.id()); });
  };
  const ProcessResult lost = until(killed, [](const Process& started) {
    const std::vector<pid_t> children = children_of(started.id());
    REQUIRE(children.size() == 2);
    ::kill(children[1], SIGKILL);
  });
  CHECK(lost.exit != 0);
  CHECK(count_of(lost.err, "exited on signal 9") == 1);
  run_well(shop, 3, {"train", "--resume", "--out", killed.string()});
  require_like_run(shop / "one", killed, 10 * tolerance);

  // The signal reaches one process, as mpirun itself would kill what has not saved within a second.
  for (const size_t reached : {0, 1}) {
    fs::remove_all(stopped);
    const ProcessResult ended = until(stopped, [&](const Process& started) {
      const std::vector<pid_t> children = children_of(started.id());
      REQUIRE(children.size() == 2);
      ::kill(children[reached], SIGTERM);
    });
    CHECK(ended.exit == 130);
    CHECK(count_of(ended.err, "interrupted: saved in") == 1);
  }
  shop.run_well({"train", "--resume", "--out", stopped.string()});
  require_like_run(shop / "one", stopped, 10 * tolerance);
}

TEST_CASE("what all processes refuse is said once", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  const auto refused = [&](const Words& words, int exit, const std::string& expected) {
    const ProcessResult result = run_mpirun(2, program_path("geosft-classify"), words, shop.process());
    INFO(result.err);
    CHECK(result.exit == exit);
    CHECK(count_of(result.err, "geosft-classify: error: ") == 1);
    CHECK_THAT(result.err, Catch::Contains(expected));
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused(train(shop, "run", 2, {"--num-heads", "3"}), 2, "heads");
  refused(train(shop, "run", 2, {"--data", (shop / "nothing").string()}), 1, "nothing");
}

TEST_CASE("what one process alone meets is said by it and stops all", "[processes]") {
  if (!has_mpirun()) return;
  const ClassifyShop shop;
  const Words well = train(shop, "run", 2), badly = well + Words{"--data", (shop / "nothing").string()};
  const auto refused = [&](const Words& first, const Words& second) {
    const MpirunEnvironment environment;
    const Words both = mpirun(1, program_path("geosft-classify"), first) +
                       Words{":", "-n", "1", program_path("geosft-classify")} + second;
    const ProcessResult result = run_process("/bin/sh", both, shop.process());
    INFO(result.err);
    CHECK(result.exit == 1);
    CHECK(count_of(result.err, "geosft-classify: error: ") == 1);
    CHECK_THAT(result.err, Catch::Contains("nothing"));
    fs::remove_all(shop / "run");
  };
  refused(well, badly);
  refused(badly, well);
}

}  // namespace geosft::test::test_train_command_processes
