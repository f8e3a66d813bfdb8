// SPDX-License-Identifier: Apache-2.0
// A tool, tiny data for it, and a folder for what it leaves.
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/tools/experiment/command_line.h"

namespace geosft::test {

class Workshop {
 public:
  // The name and path of a tool, what makes its data, and words that make its training a small one.
  Workshop(std::string tool, std::string program, const std::function<void(const std::filesystem::path&)>& write_data,
           Words small_training)
      : tool_(std::move(tool)), program_(std::move(program)), small_training_(std::move(small_training)) {
    write_data(data());
  }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  std::filesystem::path data() const { return folder_ / "data"; }
  std::filesystem::path cache() const { return folder_ / "cache"; }
  ProcessOptions process() const { return {.cache = cache()}; }
  const std::string& tool() const { return tool_; }
  const std::string& program() const { return program_; }
  const Words& small_training() const { return small_training_; }

  ProcessResult run(const Words& words) const { return run_process(program_, words, process()); }
  ProcessResult run_well(const Words& words) const {
    ProcessResult result = run(words);
    INFO(tool_ << ": " << result.err);
    REQUIRE(result.signal == 0);
    REQUIRE(result.exit == 0);
    return result;
  }

  // The small training; words that come later win. Other attentions than sampling are given no number of samples, and
  // models without attention no heads.
  Words train(const std::string& out, const Words& more = {}) const {
    const auto named = std::find(more.begin(), more.end(), "--attention");
    const std::string attention = named == more.end() ? "sampling" : named[1];
    Words small = attention == "sampling" ? small_training_ : without(small_training_, "--num-samples");
    if (attention == "none") small = without(small, "--num-heads");
    return Words{"train", "--data", data().string(), "--out", (folder_ / out).string()} + small + more;
  }
  // Trains `run`, which must leave a complete folder with these classes and its result, the line that is printed.
  // Returns the line as JSON, and what the training says.
  std::pair<nlohmann::json, std::string> require_complete_run(const Words& more, const std::string& classes) const {
    const ProcessResult result = run_well(train("run", Words{"--json"} + more));
    const Words printed = lines_of(result.out);
    REQUIRE(printed.size() == 1);
    const std::filesystem::path run = folder_ / "run";
    for (const char* name :
         {"config.toml", "classes.txt", "metrics.csv", "best.ckpt", "last.ckpt", "split.csv", "version"}) {
      CHECK(std::filesystem::file_size(run / name) > 0);
    }
    CHECK(read_text(run / "classes.txt") == classes);
    CHECK(read_text(run / "result.json") == printed[0] + "\n");
    return {nlohmann::json::parse(printed[0]), result.err};
  }
  // The folder of a trained run, made once.
  std::string trained() const {
    if (!std::filesystem::exists(folder_ / "trained")) run_well(train("trained"));
    return (folder_ / "trained").string();
  }

  // The help of the program and of each subcommand must fit a screen, but for train, which lists every key; the keys
  // must be some of train's.
  void require_help(const Words& subcommands, const Words& keys) const {
    for (const std::string& subcommand : Words{""} + subcommands) {
      const ProcessResult result = run_well((subcommand.empty() ? Words{} : Words{subcommand}) + Words{"--help"});
      CHECK(lines_of(result.out).size() > 5);
      if (subcommand != "train") CHECK(lines_of(result.out).size() <= 40);
      CHECK(result.err.empty());
    }
    const std::string listed = run_well({"train", "--list-keys"}).out;
    for (const std::string& key : keys) CHECK_THAT(listed, Catch::Contains(key));
    refuses({"trian"}, 2, {"trian", "train"});
  }
  // Requires these words of what info says of the trained run, and of its last checkpoint.
  void require_info(const Words& words) const {
    for (const std::string& what : {trained(), trained() + "/last.ckpt"}) {
      const std::string said = run_well({"info", what}).out;
      for (const std::string& word : words) CHECK_THAT(said, Catch::Contains(word));
    }
  }

  void require_failure(const ProcessResult& result, int exit, const Words& words) const {
    require_tool_failure(tool_, result, exit, words);
  }
  // Run with these arguments it must fail with this exit code and a line, alone, that holds all of `words`.
  void refuses(const Words& arguments, int exit, const Words& words) const {
    require_one_line_failure(tool_, run(arguments), exit, words);
  }

 private:
  TemporaryFolder folder_;
  std::string tool_, program_;
  Words small_training_;
};

}  // namespace geosft::test
