// SPDX-License-Identifier: Apache-2.0
// Trainings that are killed at random moments and resumed, against the same training without a break.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <thread>

#include "tests/tools/all_trainings.h"
#include "tests/tools/experiment/same_runs.h"

namespace geosft::test::test_killed_trainings {
namespace fs = std::filesystem;

namespace {

// GEOSFT_KILLS, or 10.
int wanted_kills() {
  const char* text = std::getenv("GEOSFT_KILLS");
  return text == nullptr ? 10 : std::stoi(text);
}

// What a run leaves at any moment: nothing half-written, and no step twice.
void require_whole_files(const fs::path& whole, const fs::path& run) {
  for (const char* name : {"last.ckpt", "best.ckpt"}) {
    if (fs::exists(run / name)) CHECK_NOTHROW(load_checkpoint(run / name));
  }
  if (fs::exists(run / "config.toml")) CHECK(read_text(run / "config.toml") == read_text(whole / "config.toml"));
  for (const char* name : {"classes.txt", "split.csv"}) {
    if (fs::exists(run / name)) CHECK(read_text(run / name) == read_text(whole / name));
  }
  if (fs::exists(run / "result.json")) CHECK_NOTHROW(nlohmann::json::parse(read_text(run / "result.json")));
  if (!fs::exists(run / "metrics.csv")) return;
  std::set<std::pair<int64_t, std::string>> seen;
  for (const MetricsRow& row : read_metrics(run / "metrics.csv")) CHECK(seen.emplace(row.step, row.split).second);
}

void require_no_leftovers(const fs::path& run) {
  for (const auto& entry : fs::directory_iterator(run)) CHECK(entry.path().extension() != ".tmp");
}

// What the killed trainings are held against.
struct Whole {
  fs::path run;
  double seconds = 0;           // of the whole process
  double training_seconds = 0;  // of these, in its epochs
  int64_t epochs = 0;
};

// Seconds of training that a run has still before it.
double still_to_train(const Whole& whole, const fs::path& run) {
  if (!fs::exists(run / "metrics.csv")) return whole.training_seconds;
  const std::vector<MetricsRow> rows = read_metrics(run / "metrics.csv");
  const int64_t epochs = rows.empty() ? 0 : rows.back().epoch;
  return whole.training_seconds * static_cast<double>(whole.epochs - epochs) / static_cast<double>(whole.epochs);
}

// Changes when a training begins: each start writes the configuration into its folder anew.
fs::file_time_type begun(const fs::path& run) {
  std::error_code absent;
  const fs::file_time_type time = fs::last_write_time(run / "config.toml", absent);
  return absent ? fs::file_time_type::min() : time;
}

enum class Moment { after_start, after_begin };

struct Kill {
  bool killed = false;    // else the process was over before
  bool training = false;  // it had begun to train, and had steps before it
};

// Starts or resumes the training, and kills it so many seconds after that moment.
Kill kill_after(const Workshop& shop, const Words& words, const Whole& whole, const fs::path& run, Moment moment,
                double seconds) {
  const fs::file_time_type before = begun(run);
  Process process(shop.program(), words, shop.process());
  for (int tries = 0; moment == Moment::after_begin && begun(run) == before && !process.over(); ++tries) {
    REQUIRE(tries < 60000);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  process.send(SIGKILL);
  const ProcessResult result = process.wait();
  INFO(result.err);
  REQUIRE((result.signal == SIGKILL || result.exit == 0));
  const bool killed = result.signal == SIGKILL;
  return {killed, killed && begun(run) != before && still_to_train(whole, run) > 0};
}

// Kills until as many as are wanted have hit a training; those that hit its start or its end come on top.
void require_survival(const Workshop& shop, const Words& more) {
  Whole whole{shop / "whole"};
  whole.epochs = 40;
  const Words words = with(with(shop.train("whole", more), "--epochs", "40"), "--checkpoint-every", "1");
  const auto start = std::chrono::steady_clock::now();
  shop.run_well(words);
  whole.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  whole.training_seconds = read_metrics(whole.run / "metrics.csv").back().seconds;
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  const int wanted = wanted_kills();
  int all = 0, training = 0;
  for (int rounds = 0; training < wanted; ++rounds) {
    const fs::path run = shop / ("round" + std::to_string(rounds));
    Words next = with(words, "--out", run.string());
    Kill last{true};
    while (training < wanted && last.killed && still_to_train(whole, run) > 0) {
      REQUIRE(all < 10 * wanted + 100);
      const bool anywhere = all % 5 == 4;
      // The last epochs are too short to be met otherwise.
      const double longest = std::max(still_to_train(whole, run), 0.25 * whole.training_seconds);
      last = kill_after(shop, next, whole, run, anywhere ? Moment::after_start : Moment::after_begin,
                        share(generator) * (anywhere ? whole.seconds : longest));
      if (last.killed) ++all;
      if (last.training) ++training;
      require_whole_files(whole.run, run);
      if (fs::exists(run / "config.toml")) next = {"train", "--resume", "--out", run.string()};
    }
    if (last.killed) shop.run_well(next);
    require_no_leftovers(run);
    require_same_run(whole.run, run);
  }
  std::cerr << shop.tool() << ": killed " << all << " times, " << training
            << " of them between its first and its last step\n";
}

// With every random part switched on.
const Words random_parts = Words{"--ema-decay", "0.9", "--drop-token-rate", "0.1"};
const Words random_clouds = random_parts + Words{"--jitter", "0.01", "--rotate-training", "so3"};

}  // namespace

// tools/kills.sh runs these with as many kills as it is told.
TEST_CASE("a run survives being killed at any moment: classes of clouds") {
  const Words validated = {"--batch-size", "2", "--validation-fraction", "0.2", "--validate-every", "3"};
  require_survival(ClassifyShop(), validated + random_clouds);
}

TEST_CASE("a run survives being killed at any moment: parts of clouds") {
  require_survival(SegmentShop(), random_clouds);
}

TEST_CASE("a run survives being killed at any moment: graphs") {
  require_survival(GraphShop(), {"--ema-decay", "0.9"});
}

TEST_CASE("a run survives being killed at any moment: sequences") {
  require_survival(SequenceShop(), {"--ema-decay", "0.9"});
}

}  // namespace geosft::test::test_killed_trainings
