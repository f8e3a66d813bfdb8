// SPDX-License-Identifier: Apache-2.0
// Every training where the disk or the memory is full: one line, the last checkpoint intact, and it goes on when there
// is room.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/tools/all_trainings.h"
#include "tests/tools/common/same_runs.h"
#include "tests/tools/common/small_disk.h"

namespace geosft::test::test_scarce_resources {
namespace fs = std::filesystem;

namespace {

// The error is the last line, and nothing that is half of something is left.
void require_clean_end(const Workshop& shop, const ProcessResult& result, const Words& words, const fs::path& run) {
  shop.require_failure(result, 1, words);
  for (const char* name : {"last.ckpt", "best.ckpt"}) CHECK_NOTHROW(load_checkpoint(run / name));
  CHECK_NOTHROW(read_metrics(run / "metrics.csv"));
  CHECK(read_text(run / "metrics.csv").ends_with('\n'));
  const std::set<std::string> known = {"config.toml", "classes.txt", "metrics.csv",
                                       "best.ckpt",   "last.ckpt",   "version"};
  for (const auto& entry : fs::directory_iterator(run)) {
    INFO(entry.path());
    CHECK(known.contains(entry.path().filename().string()));
  }
}

}  // namespace

TEST_CASE("a disk that is full ends every training, which goes on when there is room") {
  const SmallDisk disk(4);
  if (!disk.mounted()) return;
  const Shops shops;
  const fs::path run = disk.path() / "run";
  for (const Workshop* shop : shops.all()) {
    INFO(shop->tool());
    const Words longer = with(with(shop->train("whole"), "--epochs", "60"), "--checkpoint-every", "1");
    shop->run_well(longer);
    const ProcessResult full = train_until(shop->program(), with(longer, "--out", run.string()), shop->process(),
                                           run / "metrics.csv", 4, [&](const Process&) { disk.fill(); });
    require_clean_end(*shop, full, {"No space left on device"}, run);
    disk.make_room();
    shop->run_well({"train", "--resume", "--out", run.string()});
    require_same_run(*shop / "whole", run);
    fs::remove_all(run);
  }
}

// Address space that a sanitizer reserves would count, too.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a step that takes more memory than there is ends a training, and leaves its checkpoint") {
  const Shops shops;
  write_part_set(shops.parts.data(), 8, 4, 30000);
  const std::map<std::string, Words> large = {
      {"geosft-classify", {"--points", "20000", "--points-per-mesh", "20000", "--batch-size", "15", "--width", "64"}},
      {"geosft-segment", {"--points", "30000", "--batch-size", "8", "--width", "64"}}};
  for (const Workshop* shop : shops.all()) {
    if (!large.contains(shop->tool())) continue;
    INFO(shop->tool());
    const fs::path run = *shop / "large";
    Words words = shop->train("large");
    const Words& more = large.at(shop->tool());
    for (size_t i = 0; i + 1 < more.size(); i += 2) words = with(words, more[i], more[i + 1]);
    shop->run_well(with(words, "--epochs", "1"));
    const std::string before = read_text(run / "last.ckpt");
    ProcessOptions little = shop->process();
    little.memory = rlim_t{1200} << 20;
    const Words further = {"train", "--resume", "--out", run.string(), "--epochs", "2"};
    const ProcessResult ended = run_process(shop->program(), further, little);
    shop->require_failure(ended, 1, {"out of memory", "--batch-size"});
    CHECK(read_text(run / "last.ckpt") == before);
    shop->run_well(further);
    CHECK(load_checkpoint(run / "last.ckpt").tensors.at("position")[0].item<int64_t>() == 2);
  }
}
#endif

}  // namespace geosft::test::test_scarce_resources
