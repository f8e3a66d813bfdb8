// SPDX-License-Identifier: Apache-2.0
// geosft-classify on the tiny dataset.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/common/command_line.h"

namespace geosft::test {

// A folder with the tiny dataset, a cache, and whatever a test adds.
class Workshop {
 public:
  Workshop() { write_tiny_dataset(data()); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  std::filesystem::path data() const { return folder_ / "data"; }
  ProcessOptions process() const { return {.cache = folder_ / "cache"}; }

  ProcessResult run(const Words& words) const { return run_process(GEOSFT_CLASSIFY, words, process()); }
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
           Words{"--seed", "3", "--points", "64", "--points-per-mesh", "128", "--epochs", "3"} +
           Words{"--width", "16", "--heads", "2", "--layers", "1", "--bins", "8", "--head-bins", "16"} +
           Words{"--batch-size", "4", "--learning-rate", "3e-3"} + more;
  }
  // The folder of a trained run, made once.
  std::string trained() const {
    if (!std::filesystem::exists(folder_ / "trained")) run_well(train("trained"));
    return (folder_ / "trained").string();
  }

 private:
  TemporaryFolder folder_;
};

inline void require_failure(const ProcessResult& result, int exit, const Words& words) {
  require_tool_failure("geosft-classify", result, exit, words);
}

inline void require_one_line_failure(const ProcessResult& result, int exit, const Words& words) {
  require_failure(result, exit, words);
  CHECK(lines_of(result.err).size() == 1);
}

// An evaluation of the tiny test set as JSON.
inline void check_evaluation(const nlohmann::json& result, const std::string& rotation, int64_t repeats) {
  CHECK(result.at("task") == "classification");
  CHECK(result.at("split") == "test");
  CHECK(result.at("count") == 6);
  CHECK(result.at("rotation") == rotation);
  CHECK(result.at("repeats") == repeats);
  for (const char* share : {"accuracy", "mean_class_accuracy"}) {
    CHECK(result.at("metrics").at(share) >= 0.0);
    CHECK(result.at("metrics").at(share) <= 1.0);
  }
  CHECK(result.at("metrics").at("loss") > 0.0);
  CHECK(result.at("max_logit_difference").is_number());
}

}  // namespace geosft::test
