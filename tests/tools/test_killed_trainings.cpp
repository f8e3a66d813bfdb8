// SPDX-License-Identifier: Apache-2.0
// Trainings that are killed at random moments and resumed, against the same training without a break.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include "tests/tools/all_trainings.h"
#include "tests/tools/common/same_runs.h"

namespace geosft::test::test_killed_trainings {
namespace fs = std::filesystem;

namespace {

// GEOSFT_KILLS, or 10.
int wanted_kills() {
  const char* text = std::getenv("GEOSFT_KILLS");
  return text == nullptr ? 10 : std::stoi(text);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What a run leaves at any moment: nothing half-written, and no step twice.
void require_whole_files(const fs::path& run) {
  for (const char* name : {"last.ckpt", "best.ckpt"}) {
    if (fs::exists(run / name)) CHECK_NOTHROW(load_checkpoint(run / name));
  }
  if (!fs::exists(run / "metrics.csv")) return;
  std::set<std::pair<int64_t, std::string>> seen;
  for (const MetricsRow& row : read_metrics(run / "metrics.csv")) CHECK(seen.emplace(row.step, row.split).second);
}

void require_no_leftovers(const fs::path& run) {
  for (const auto& entry : fs::directory_iterator(run)) CHECK(entry.path().extension() != ".tmp");
}

// Starts or resumes the training and kills it after so many seconds. False when it was over before.
bool killed_after(const Workshop& shop, const Words& words, double seconds) {
  Process process(shop.program(), words, shop.process());
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  process.send(SIGKILL);
  const ProcessResult result = process.wait();
  INFO(result.err);
  REQUIRE((result.signal == SIGKILL || result.exit == 0));
  return result.signal == SIGKILL;
}

void require_survival(const Workshop& shop, const Words& more) {
  const Words words = with(with(shop.train("whole", more), "--epochs", "40"), "--checkpoint-every", "1");
  const auto start = std::chrono::steady_clock::now();
  shop.run_well(words);
  const double whole_seconds = seconds_since(start);
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> moment(0.0, whole_seconds);
  const int wanted = wanted_kills();
  for (int kills = 0, rounds = 0; kills < wanted; ++rounds) {
    const fs::path run = shop / ("round" + std::to_string(rounds));
    Words next = with(words, "--out", run.string());
    bool unfinished = true;
    while (kills < wanted && (unfinished = killed_after(shop, next, moment(generator)))) {
      ++kills;
      require_whole_files(run);
      if (fs::exists(run / "config.toml")) next = {"train", "--resume", "--out", run.string()};
    }
    if (unfinished) shop.run_well(next);
    require_no_leftovers(run);
    require_same_run(shop / "whole", run);
  }
}

// With every random part switched on.
const Words random_parts = Words{"--average-decay", "0.9", "--drop-tokens", "0.1"};
const Words random_clouds = random_parts + Words{"--jitter", "0.01", "--rotate-training", "so3"};

}  // namespace

// GEOSFT_KILLS=100 test_tools "a run survives being killed at any moment*" takes about twenty minutes.
TEST_CASE("a run survives being killed at any moment: classes of clouds") {
  const Words validated = {"--batch-size", "2", "--validation-fraction", "0.2", "--validate-every", "3"};
  require_survival(ClassifyShop(), validated + random_clouds);
}

TEST_CASE("a run survives being killed at any moment: parts of clouds") {
  require_survival(SegmentShop(), random_clouds);
}

TEST_CASE("a run survives being killed at any moment: graphs") {
  require_survival(GraphShop(), {"--average-decay", "0.9"});
}

TEST_CASE("a run survives being killed at any moment: sequences") {
  require_survival(SequenceShop(), {"--average-decay", "0.9"});
}

}  // namespace geosft::test::test_killed_trainings
