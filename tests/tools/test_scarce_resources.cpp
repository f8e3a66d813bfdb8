// SPDX-License-Identifier: Apache-2.0
// Every training whose disk or memory is full, whose folder is locked or whose data are gone: one line, the last
// checkpoint intact, and it goes on when it can.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/environment.h"
#include "tests/tools/all_trainings.h"
#include "tests/tools/experiment/same_runs.h"
#include "tests/tools/experiment/small_disk.h"

namespace geosft::test::test_scarce_resources {
namespace fs = std::filesystem;

namespace {

const std::set<std::string> unfinished = {"config.toml", "classes.txt", "metrics.csv", "best.ckpt",
                                          "last.ckpt",   "split.csv",   "train.log",   "version"};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

// The error is the last line, and nothing that is half of something is left.
void require_clean_end(const Workshop& shop, const ProcessResult& result, const Words& words, const fs::path& run,
                       const std::set<std::string>& names = unfinished) {
  shop.require_failure(result, 1, words);
  for (const char* name : {"last.ckpt", "best.ckpt"}) CHECK_NOTHROW(load_checkpoint(run / name));
  CHECK_NOTHROW(read_metrics(run / "metrics.csv"));
  CHECK(read_text(run / "metrics.csv").ends_with('\n'));
  CHECK(names_in(run) == names);
}

// Returns the words of a training of 20 epochs with a checkpoint each.
Words long_training(const Workshop& shop, const std::string& out) {
  return with(with(shop.train(out), "--epochs", "20"), "--checkpoint-every", "1");
}

// Shops that several cases share, each of which leaves them as they were.
const Shops& shared_shops() {
  static const Shops shops;
  return shops;
}

// The long training that nothing happens to, of a shared shop, made once.
fs::path whole(const Workshop& shop) {
  if (!fs::exists(shop / "whole" / "result.json")) shop.run_well(long_training(shop, "whole"));
  return shop / "whole";
}

Words resume(const fs::path& run) {
  return {"train", "--resume", "--out", run.string()};
}

ProcessResult train_until(const Workshop& shop, const Words& words, const ProcessOptions& options, const fs::path& run,
                          const std::function<void()>& event) {
  return test::train_until(shop.program(), words, options, run / "metrics.csv", 4, [&](const Process&) { event(); });
}

nlohmann::json result_metrics(const fs::path& run) {
  return nlohmann::json::parse(read_text(run / "result.json")).at("metrics");
}

[[maybe_unused]]  // where there is no limit on memory
void set_words(Words& words, const Words& options) {
  for (size_t i = 0; i + 1 < options.size(); i += 2) words = with(words, options[i], options[i + 1]);
}

}  // namespace

TEST_CASE("a disk that is full ends every training, which goes on when there is room") {
  const SmallDisk disk(4);
  if (!disk.mounted()) return;
  const fs::path run = disk.path() / "run";
  for (const Workshop* shop : shared_shops().all()) {
    INFO(shop->tool());
    const Words words = with(long_training(*shop, "run"), "--out", run.string());
    const ProcessResult full = train_until(*shop, words, shop->process(), run, [&] { disk.fill(); });
    require_clean_end(*shop, full, {"No space left on device"}, run);
    disk.make_room();
    shop->run_well(resume(run));
    require_same_run(whole(*shop), run);
    fs::remove_all(run);
  }
}

// As on a full disk, and possible where none can be mounted.
TEST_CASE("files that may not grow end every training, which goes on when they may") {
  const Shops shops;
  for (const Workshop* shop : shops.all()) {
    INFO(shop->tool());
    const fs::path run = *shop / "run";
    shop->run_well(with(shop->train("run"), "--epochs", "3"));
    const std::string best = read_text(run / "best.ckpt"), last = read_text(run / "last.ckpt");
    const std::set<std::string> before = names_in(run);
    ProcessOptions full = shop->process();
    full.file_bytes = std::min(best.size(), last.size()) - 1;
    const Words further = resume(run) + Words{"--epochs", "5"};
    const ProcessResult ended = run_process(shop->program(), further, full);
    require_clean_end(*shop, ended, {".ckpt", "room", "File too large"}, run, before);
    CHECK(read_text(run / "best.ckpt") == best);
    CHECK(read_text(run / "last.ckpt") == last);
    shop->run_well(further);
    shop->run_well(with(shop->train("whole"), "--epochs", "5"));
    require_same_run(*shop / "whole", run);
  }
}

TEST_CASE("a run folder that becomes read-only ends every training, which goes on when it is not") {
  ProcessOptions bound;
  bound.bound = true;
  if (run_process("/bin/true", {}, bound).exit == not_started) {
    leave_out("root may not give up its rights here (CAP_SETPCAP): a locked folder is not tested");
    return;
  }
  for (const Workshop* shop : shared_shops().all()) {
    INFO(shop->tool());
    const fs::path run = *shop / "locked";
    bound.cache = shop->cache();
    const ProcessResult ended = train_until(*shop, long_training(*shop, "locked"), bound, run, [&] {
      fs::permissions(run, fs::perms::owner_read | fs::perms::owner_exec);
    });
    fs::permissions(run, fs::perms::owner_all);
    // What is being written when its folder is locked cannot be taken away any more; the next run does that.
    std::set<std::string> names = unfinished;
    for (const std::string& name : names_in(run)) {
      if (name.ends_with(".tmp")) names.insert(name);
    }
    CHECK(names.size() <= unfinished.size() + 1);
    require_clean_end(*shop, ended, {".ckpt", "ermission denied"}, run, names);
    shop->run_well(resume(run));
    require_same_run(whole(*shop), run);
    CHECK(names_in(run) == names_in(whole(*shop)));
  }
}

// Sets of files, which are read all the time, are in the tests of their tools.
TEST_CASE("a training goes on without the data that it has in memory") {
  const Shops& shops = shared_shops();
  for (const Workshop* shop : std::vector<const Workshop*>{&shops.parts, &shops.graphs, &shops.sequences}) {
    INFO(shop->tool());
    const fs::path run = *shop / "without", away = *shop / "away", expected = whole(*shop);
    const ProcessResult result = train_until(*shop, long_training(*shop, "without"), shop->process(), run,
                                             [&] { fs::rename(shop->data(), away); });
    require_same_run(expected, run);
    if (shop == &shops.parts) {  // the test split is opened for the final evaluation
      require_clean_end(*shop, result, {shop->data().string(), "found nothing of this name"}, run);
    } else {
      INFO(result.err);
      CHECK(result.exit == 0);
    }
    fs::rename(away, shop->data());
    shop->run_well(resume(run));
    CHECK(result_metrics(run) == result_metrics(expected));
  }
}

// Address space that a sanitizer reserves would count, too.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a step that takes more memory than there is ends a training, and leaves its checkpoint") {
  const Shops shops;
  // More items than a batch has parts: with a smaller batch parts are smaller, too.
  for (int i = 0; i < 75; ++i) {
    const std::string name = "more_" + std::to_string(i) + ".off";
    write_text(shops.clouds.data() / "train" / "cube" / name, cube_off(0.5 + 0.01 * i));
  }
  const ClassifyShop& shop = shops.clouds;
  const fs::path run = shop / "large";
  Words words = shop.train("large");
  set_words(words, {"--points", "20000", "--points-per-mesh", "20000", "--batch-size", "90", "--dim", "64", "--epochs",
                    "1", "--validation-fraction", "0"});
  shop.run_well(words);
  const std::string before = read_text(run / "last.ckpt");
  ProcessOptions little = shop.process();
  little.memory = rlim_t{1200} << 20;
  const Words further = resume(run) + Words{"--epochs", "2"};
  const ProcessResult ended = run_process(shop.program(), further, little);
  shop.require_failure(ended, 1, {"out of memory", "a step has room with --batch-size", "(tried)"});
  CHECK_THAT(ended.err, Catch::Contains("training on "));
  CHECK(read_text(run / "last.ckpt") == before);
  shop.run_well(further);
  CHECK(load_checkpoint(run / "last.ckpt").tensors.at("position")[0].item<int64_t>() == 2);
}

TEST_CASE("a step needs the memory of the parts at hand, not that of the whole batch") {
  const Shops shops;
  write_part_set(shops.parts.data(), 8, 4, 30000);
  write_tiny_graphs(shops.graphs.data(), "TINY", 10000);
  write_waves(shops.sequences.data(), 5000);
  const std::map<std::string, Words> large = {{"geosft-segment", {"--points", "30000", "--batch-size", "8"}},
                                              {"geosft-graph", {"--batch-size", "18", "--encoding", "none"}},
                                              {"geosft-sequence", {"--batch-size", "40", "--num-samples", "4"}}};
  for (const Workshop* shop : std::vector<const Workshop*>{&shops.parts, &shops.graphs, &shops.sequences}) {
    INFO(shop->tool());
    Words words = shop->train("large");
    set_words(words, large.at(shop->tool()) + Words{"--dim", "64", "--epochs", "1"});
    ProcessOptions little = shop->process();
    little.memory = rlim_t{1200} << 20;  // too little for all tokens at a time
    const ProcessResult ended = run_process(shop->program(), words, little);
    INFO(ended.err);
    CHECK(ended.exit == 0);
  }
}
#endif

}  // namespace geosft::test::test_scarce_resources
