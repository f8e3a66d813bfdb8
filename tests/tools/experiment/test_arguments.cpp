// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/arguments.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include <sstream>
#include <tuple>

#include "tests/support.h"

namespace geosft::test::test_arguments {
namespace {

struct Tool {
  CLI::App app{"a tool", "tool"};
  std::string run;
  int epochs = 1;

  Tool() {
    app.require_subcommand(1);
    app.set_version_flag("--version", "tool 1.2.3");
    CLI::App* train = app.add_subcommand("train", "trains");
    train->add_option("run", run, "folder of the run")->required();
    train->add_option("--epochs", epochs);
    app.add_subcommand("eval", "evaluates");
  }

  bool parse(std::vector<const char*> words, std::ostream& out) {
    words.insert(words.begin(), "tool");
    return parse_arguments(app, static_cast<int>(words.size()), words.data(), out);
  }
};

void require_refused(const std::vector<const char*>& words, const std::vector<std::string>& expected) {
  std::ostringstream out;
  Tool tool;
  CHECK_THROWS_AS(tool.parse(words, out), UsageError);
  Tool again;
  test::require_error([&] { again.parse(words, out); }, expected);
  CHECK(out.str().empty());
}

}  // namespace

TEST_CASE("an unknown command is what is wrong, also with options after it") {
  require_refused({"trian", "--data", "x"}, {"unknown command 'trian'", "'train'"});
}

TEST_CASE("a number below a limit without an upper one is refused without the digits of the largest number") {
  for (const auto& [option, value, expected] : std::vector<std::tuple<const char*, const char*, std::string>>{
           {"--seed", "-1", "--seed: expected a number of at least 0, found -1"},
           {"--top", "0", "--top: Value 0 not in range 1 to 1000000"}}) {
    CLI::App app;
    int64_t seed = 0, top = 0;
    app.add_option("--seed", seed)->check(CLI::NonNegativeNumber);
    app.add_option("--top", top)->check(CLI::Range(1, 1000000));
    const std::vector<const char*> words = {"tool", option, value};
    std::ostringstream out;
    std::string message;
    try {
      parse_arguments(app, 3, words.data(), out);
    } catch (const UsageError& error) {
      message = error.what();
    }
    CHECK(message == expected);
  }
}

TEST_CASE("an enumeration is refused with its names") {
  CLI::App app;
  std::string split;
  app.add_option("--split", split)->check(CLI::IsMember({"all", "train", "test"}));
  const std::vector<const char*> words = {"tool", "--split", "tset"};
  std::ostringstream out;
  test::require_error([&] { parse_arguments(app, 3, words.data(), out); },
                      {"--split: expected all, train or test, found 'tset'"});
}

TEST_CASE("options of other tools are hinted at with their value here") {
  CLI::App app;
  std::string device, setting;
  app.add_option("--device", device);
  CHECK_THAT(unknown_option_message(app, "--gpu"), Catch::Contains("'--gpu'; did you mean --device cuda?"));
  CHECK_THAT(unknown_option_message(app, "--epochs"), !Catch::Contains("--set"));
  app.add_option("--set", setting);
  CHECK_THAT(unknown_option_message(app, "--config=a.toml"), Catch::Contains("did you mean --set config=VALUE?"));
  app.add_option("CONFIG");
  CHECK_THAT(unknown_option_message(app, "--config"), Catch::Contains("did you mean FILE.toml without it?"));
  CHECK_THAT(unknown_option_message(app, "--batch-size=5"), Catch::Contains("did you mean --set batch_size=VALUE?"));
  CHECK_THAT(unknown_option_message(app, "--devise"), Catch::Contains("'--device'"));
}

TEST_CASE("arguments reach their targets") {
  std::ostringstream out;
  Tool tool;
  REQUIRE(tool.parse({"train", "folder", "--epochs", "7"}, out));
  CHECK(tool.run == "folder");
  CHECK(tool.epochs == 7);
  CHECK(out.str().empty());
}

TEST_CASE("a flag may be followed by true or false") {
  for (const auto& [words, expected] :
       std::vector<std::pair<std::vector<const char*>, bool>>{{{"train", "folder", "--normals"}, true},
                                                              {{"train", "folder", "--normals", "true"}, true},
                                                              {{"train", "--normals", "false", "folder"}, false},
                                                              {{"train", "--normals=false", "folder"}, false},
                                                              {{"train", "--no-normals", "folder"}, false},
                                                              {{"train", "--no-normals", "false", "folder"}, true}}) {
    std::ostringstream out;
    Tool tool;
    bool normals = !expected;
    tool.app.get_subcommand("train")->add_flag("--normals,!--no-normals", normals);
    REQUIRE(tool.parse(words, out));
    REQUIRE(tool.run == "folder");
    REQUIRE(normals == expected);
  }
  std::ostringstream out;
  Tool tool;  // an option takes its value itself
  REQUIRE(tool.parse({"train", "true", "--epochs", "7"}, out));
  REQUIRE(tool.run == "true");
}

TEST_CASE("words of printed commands are quoted where a shell would take them apart") {
  for (const char* plain : {"runs/mine", "/a-b_c/d.1", "C:x", "größe"}) CHECK(shell_word(plain) == plain);
  CHECK(shell_word("my run") == "'my run'");
  CHECK(shell_word("a;b") == "'a;b'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("help and version are written to the stream and end the tool") {
  for (const auto& [word, expected] : {std::pair{"--help", "evaluates"}, {"--version", "tool 1.2.3"}}) {
    std::ostringstream out;
    Tool tool;
    CHECK_FALSE(tool.parse({word}, out));
    CHECK(out.str().find(expected) != std::string::npos);
  }
}

TEST_CASE("help of a subcommand shows the subcommand's options") {
  std::ostringstream out;
  Tool tool;
  CHECK_FALSE(tool.parse({"train", "--help"}, out));
  CHECK(out.str().find("--epochs") != std::string::npos);
}

TEST_CASE("a folder that is no argument of a command with --data is probably that option's") {
  std::ostringstream out;
  Tool tool;
  std::string data;
  tool.app.get_subcommand("train")->add_option("--data", data);
  require_error(
      [&] {
        tool.parse({"train", "folder", "scans"}, out);
      },
      {"unexpected argument 'scans'; did you mean --data scans?"});
}

TEST_CASE("wrong use is explained in one line") {
  require_refused({"train", "folder", "--epoch", "7"}, {"unknown option '--epoch'", "'--epochs'"});
  require_refused({"train", "folder", "--epoch=7"}, {"unknown option '--epoch'", "'--epochs'"});
  require_refused({"train", "--epoch", "7"}, {"unknown option '--epoch'", "'--epochs'"});
  require_refused({"trian", "folder"}, {"unknown command 'trian'", "'train'"});
  require_refused({"train", "folder", "more"}, {"unexpected argument 'more'"});
  require_refused({"test", "folder"}, {"unknown command 'test'", "'eval'"});
  require_refused({"sweep", "folder"}, {"unknown command 'sweep'", "geosft-graph and geosft-sequence", "--seed"});
  require_refused({"train", "folder", "--epochs", "many"}, {"--epochs", "many"});
  require_refused({"train"}, {"run is required: folder of the run"});
  require_refused({"train", "folder", "--epochs"}, {"--epochs: expected a value, found none"});
  require_refused({}, {"subcommand is required"});
}

}  // namespace geosft::test::test_arguments
