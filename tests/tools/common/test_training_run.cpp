// SPDX-License-Identifier: Apache-2.0
// What is here for its own sake; whole trainings are tested by the programs.
#include "tools/common/training_run.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_training_run {

TEST_CASE("a training that fails at once leaves no empty folder, and one that wrote something stays") {
  const TemporaryFolder temporary;
  const RunFolder empty = RunFolder::create(temporary / "empty");
  CHECK_THROWS_AS(train_or_clean(empty, one_process(), []() -> bool { throw std::runtime_error("no data"); }),
                  std::runtime_error);
  CHECK_FALSE(std::filesystem::exists(empty.path()));
  const RunFolder begun = RunFolder::create(temporary / "begun");
  begun.write_config("x = 1\n");
  CHECK_THROWS_AS(train_or_clean(begun, one_process(), []() -> bool { throw std::runtime_error("no disk"); }),
                  std::runtime_error);
  CHECK(std::filesystem::exists(begun.config()));
  CHECK_FALSE(train_or_clean(begun, one_process(), [] { return false; }));
}

namespace {

struct Numbers {
  int64_t epochs = 1, width = 2;

  Config config() {
    Config keys;
    keys.add("", "epochs", &epochs, "may change").add("", "width", &width, "may not");
    return keys;
  }
  void take_resumable(const Numbers& other) { epochs = other.epochs; }
  static constexpr const char* kResumable = "--epochs";
};

// The configuration refers to the command line that it was parsed from.
std::unique_ptr<CLI::App> parsed(Config& config, const std::vector<const char*>& words) {
  auto app = std::make_unique<CLI::App>();
  config.add_options(*app);
  std::ostringstream out;
  parse_arguments(*app, static_cast<int>(words.size()), words.data(), out);
  return app;
}

}  // namespace

TEST_CASE("a new run reads its file and the command line, a resumed one its own file") {
  const TemporaryFolder temporary;
  write_text(temporary / "new.toml", "epochs = 5\nwidth = 6\n");
  TrainArguments arguments;
  arguments.config_file = (temporary / "new.toml").string();
  Numbers numbers;
  Config config = numbers.config();
  const auto line = parsed(config, {"tool", "--width", "7"});
  arguments.load_new(config);
  CHECK(numbers.epochs == 5);
  CHECK(numbers.width == 7);
  const RunFolder folder = RunFolder::create(temporary / "run");
  folder.write_config("epochs = 5\nwidth = 6\n");
  const auto resume = [&](const std::vector<const char*>& words) {
    Numbers resumed;
    Config keys = resumed.config();
    const auto given = parsed(keys, words);
    arguments.load_resumed(resumed, keys, folder);
    return resumed;
  };
  require_error([&] { resume({"tool"}); }, {"--resume", "--config"});
  arguments.config_file.clear();
  CHECK(resume({"tool", "--epochs", "9"}).epochs == 9);
  CHECK(resume({"tool"}).width == 6);
  require_error([&] { resume({"tool", "--width", "9"}); }, {"only --epochs may change"});
}

TEST_CASE("a resumed run refuses another configuration") {
  refuse_changes("x = 1\n", "x = 1\n", "--epochs");
  require_error([] { refuse_changes("x = 1\n", "x = 2\n", "--epochs"); }, {"--resume", "only --epochs may change"});
  CHECK_THROWS_AS(refuse_changes("a", "b", "c"), UsageError);
}

}  // namespace geosft::test::test_training_run
