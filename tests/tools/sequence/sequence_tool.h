// SPDX-License-Identifier: Apache-2.0
// geosft-sequence on a tiny dataset.
#pragma once

#include <cmath>
#include <sstream>

#include "tests/tools/common/command_line.h"

namespace geosft::test {

// Slow and fast waves of different lengths, in two dimensions.
inline std::string waves(int count, int first) {
  std::ostringstream text;
  text
      << "@problemName Waves\n@timeStamps false\n@missing false\n@univariate false\n@dimensions 2\n@equalLength false\n"
         "@classLabel true slow fast\n@data\n";
  for (int i = first; i < first + count; ++i) {
    const bool fast = i % 2 == 1;
    for (const double shift : {0.0, 1.5}) {
      for (int t = 0; t < 12 + i % 7; ++t) text << (t > 0 ? "," : "") << std::sin((fast ? 2.0 : 0.5) * t + i + shift);
      text << ':';
    }
    text << (fast ? "fast\n" : "slow\n");
  }
  return text.str();
}

class SequenceWorkshop {
 public:
  SequenceWorkshop() {
    write_text(data() / "Waves_TRAIN.ts", waves(40, 0));
    write_text(data() / "Waves_TEST.ts", waves(20, 40));
  }
  std::filesystem::path data() const { return folder_ / "data"; }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  ProcessResult run(const Words& words) const { return run_process(GEOSFT_SEQUENCE, words, {}); }
  std::string run_well(const Words& words) const {
    const ProcessResult result = run(words);
    INFO(result.err);
    REQUIRE(result.signal == 0);
    REQUIRE(result.exit == 0);
    return result.out;
  }
  Words train(const std::string& out, const Words& more = {}) const {
    return Words{"train", "--data", data().string(), "--out", (folder_ / out).string(), "--json", "--seed", "1"} +
           Words{"--width", "16", "--heads", "4", "--layers", "1", "--epochs", "40", "--batch-size", "8"} +
           Words{"--learning-rate", "3e-3", "--beta2", "0.9", "--no-relative", "--positions", "added"} + more;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace geosft::test
