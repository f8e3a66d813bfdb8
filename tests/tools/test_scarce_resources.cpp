// SPDX-License-Identifier: Apache-2.0
// Every training where the disk is full: one line, the last checkpoint intact, and it goes on when there is room.
#include <algorithm>
#include <catch2/catch.hpp>
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

// The training of a tool on its tiny data.
struct Training {
  std::string tool, program;
  Words words;
  ProcessOptions options;

  void run_well(const Words& more) const {
    const ProcessResult result = run_process(program, more, options);
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

// The words with another value of an option, which may be said once.
Words with(Words words, const std::string& option, const std::string& value) {
  const auto found = std::find(words.begin(), words.end(), option);
  if (found != words.end()) words.erase(found, found + 2);
  return words + Words{option, value};
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
    const Words longer = with(with(training.words, "--epochs", "60"), "--checkpoint-every", "1");
    const fs::path whole = shops.clouds / (training.tool + "_whole");
    training.run_well(with(longer, "--out", whole.string()));
    const ProcessResult full = train_until(training.program, with(longer, "--out", run.string()), training.options,
                                           run / "metrics.csv", 4, [&](const Process&) { disk.fill(); });
    require_clean_end(training, full, {"No space left on device"}, run);
    disk.make_room();
    training.run_well({"train", "--resume", "--out", run.string()});
    require_same_run(whole, run);
    fs::remove_all(run);
  }
}

}  // namespace geosft::test::test_scarce_resources
