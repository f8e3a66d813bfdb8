// SPDX-License-Identifier: Apache-2.0
// geosft-segment on a tiny dataset.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/data/part_files.h"
#include "tests/tools/common/command_line.h"

namespace geosft::test {

// A folder with a tiny dataset, and whatever a test adds.
class SegmentShop {
 public:
  SegmentShop() { write_part_set(data(), 8, 4); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  std::filesystem::path data() const { return folder_ / "data"; }
  ProcessOptions process() const { return {.cache = folder_ / "cache"}; }

  ProcessResult run(const Words& words) const { return run_process(GEOSFT_SEGMENT, words, process()); }
  ProcessResult run_well(const Words& words) const {
    ProcessResult result = run(words);
    INFO(result.err);
    REQUIRE(result.signal == 0);
    REQUIRE(result.exit == 0);
    return result;
  }

  // `train` with a small model and few epochs; words that come later win.
  Words train(const std::string& out, const Words& more = {}) const {
    return Words{"train", "--data", data().string(), "--out", (folder_ / out).string()} +
           Words{"--seed", "3", "--points", "48", "--epochs", "3", "--batch-size", "4"} +
           Words{"--width", "16", "--heads", "2", "--layers", "1", "--bins", "8", "--learning-rate", "3e-3"} + more;
  }
  // The folder of a trained run, made once.
  std::string trained() const {
    if (!std::filesystem::exists(folder_ / "trained")) run_well(train("trained"));
    return (folder_ / "trained").string();
  }

 private:
  TemporaryFolder folder_;
};

inline void require_segment_failure(const ProcessResult& result, int exit, const Words& words) {
  require_tool_failure("geosft-segment", result, exit, words);
  CHECK(lines_of(result.err).size() == 1);
}

}  // namespace geosft::test
