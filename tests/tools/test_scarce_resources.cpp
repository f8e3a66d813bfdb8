// SPDX-License-Identifier: Apache-2.0
// Every training where the disk is full or the memory is used up: one line, the last checkpoint intact, and it goes on.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>

#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/common/same_runs.h"
#include "tests/tools/common/small_disk.h"
#include "tests/tools/graph/graph_tool.h"
#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/sequence/sequence_tool.h"

namespace geosft::test::test_scarce_resources {
namespace fs = std::filesystem;

namespace {

// The training of a tool on its tiny data, with --out still to be said: words that come later win.
struct Training {
  std::string tool, program;
  Words words;
  ProcessOptions options;

  ProcessResult run(const Words& more, const ProcessOptions& how) const { return run_process(program, more, how); }
  void run_well(const Words& more) const {
    const ProcessResult result = run(more, options);
    INFO(result.err);
    REQUIRE(result.exit == 0);
  }
};

struct Shops {
  Workshop clouds;
  SegmentShop parts;
  GraphWorkshop graphs;
  SequenceWorkshop sequences;

  std::vector<Training> trainings() const {
    return {{"geosft-classify", GEOSFT_CLASSIFY, clouds.train("unused"), clouds.process()},
            {"geosft-segment", GEOSFT_SEGMENT, parts.train("unused"), parts.process()},
            {"geosft-graph", GEOSFT_GRAPH, graphs.train("unused"), graphs.process()},
            {"geosft-sequence", GEOSFT_SEQUENCE, sequences.train("unused"), {}}};
  }
};

Words out(const fs::path& run) {
  return {"--out", run.string()};
}

// The error is the last line, and nothing that is half of something is left.
void require_clean_end(const Training& training, const ProcessResult& result, const Words& words, const fs::path& run) {
  require_tool_failure(training.tool, result, 1, words);
  for (const char* name : {"last.ckpt", "best.ckpt"}) CHECK_NOTHROW(load_checkpoint(run / name));
  CHECK_NOTHROW(read_metrics(run / "metrics.csv"));
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
  for (const Training& training : shops.trainings()) {
    INFO(training.tool);
    const Words longer = training.words + Words{"--epochs", "60", "--checkpoint-every", "1"};
    const fs::path whole = shops.clouds / (training.tool + "_whole");
    training.run_well(longer + out(whole));
    const ProcessResult full = train_until(training.program, longer + out(run), training.options, run / "metrics.csv",
                                           4, [&](const Process&) { disk.fill(); });
    require_clean_end(training, full, {"No space left on device"}, run);
    disk.make_room();
    training.run_well({"train", "--resume", "--out", run.string()});
    require_same_run(whole, run);
    fs::remove_all(run);
  }
}

// Address space that a sanitizer reserves would count, too.
#ifndef __SANITIZE_ADDRESS__
namespace {

// Bytes of address space that a training has used so far.
rlim_t address_space(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmPeak:", 0) == 0) return rlim_t{std::stoull(line.substr(7))} << 10;
  }
  return 0;
}

}  // namespace

TEST_CASE("a step that takes more memory than there is ends every training, and leaves its checkpoint") {
  const Shops shops;
  write_part_set(shops.parts.data(), 8, 4, 30000);
  write_tiny_graphs(shops.graphs.data());
  const std::map<std::string, Words> large = {
      {"geosft-classify", {"--points", "20000", "--points-per-mesh", "20000", "--batch-size", "15", "--layers", "2"}},
      {"geosft-segment", {"--points", "30000", "--batch-size", "8", "--layers", "2"}}};
  for (const Training& training : shops.trainings()) {
    if (!large.contains(training.tool)) continue;
    INFO(training.tool);
    rlim_t small_run = 0;
    const fs::path small = shops.clouds / (training.tool + "_small"), run = shops.clouds / (training.tool + "_large");
    train_until(training.program, training.words + Words{"--points", "48"} + out(small), training.options,
                small / "metrics.csv", 3, [&](const Process& process) { small_run = address_space(process.id()); });
    REQUIRE(small_run > 0);
    const Words words = training.words + large.at(training.tool) + Words{"--epochs", "1"} + out(run);
    training.run_well(words);
    const std::string before = read_text(run / "last.ckpt");
    ProcessOptions little = training.options;
    little.memory = small_run + (rlim_t{250} << 20);
    const Words further = {"train", "--resume", "--out", run.string(), "--epochs", "2"};
    const ProcessResult ended = training.run(further, little);
    require_tool_failure(training.tool, ended, 1, {"out of memory", "--batch-size"});
    CHECK(read_text(run / "last.ckpt") == before);
    training.run_well(further);
    CHECK(load_checkpoint(run / "last.ckpt").tensors.at("position")[0].item<int64_t>() == 2);
  }
}
#endif

}  // namespace geosft::test::test_scarce_resources
