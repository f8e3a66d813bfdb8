// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/subcommand.h"

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include <iostream>
#include <memory>
#include <sstream>

#include "tests/support.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft::test::test_subcommand {
namespace {

Command add_seven(CLI::App&) {
  return [] { return 7; };
}

Command add_count(CLI::App& subcommand) {
  auto count = std::make_shared<int>(1);
  subcommand.add_option("--count", *count, "what comes back");
  return [count] { return *count; };
}

int run_with(std::vector<const char*> words) {
  words.insert(words.begin(), "tool");
  return run_subcommands("A tool", {{"seven", "gives seven", add_seven}, {"count", "gives a number", add_count}},
                         static_cast<int>(words.size()), words.data());
}

RuntimeOptions parsed(std::vector<const char*> words) {
  CLI::App app("tool");
  RuntimeOptions options;
  options.add_to(app);
  words.insert(words.begin(), "tool");
  parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
  return options;
}

}  // namespace

TEST_CASE("the subcommand that is named runs with its options") {
  CHECK(run_with({"seven"}) == 7);
  CHECK(run_with({"count"}) == 1);
  CHECK(run_with({"count", "--count", "5"}) == 5);
}

TEST_CASE("no subcommand and `help` print the help") {
  const auto printed = [](const std::vector<const char*>& words) {
    std::ostringstream out;
    std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
    const int code = run_with(words);
    std::cout.rdbuf(before);
    CHECK(code == 0);
    return out.str();
  };
  REQUIRE_THAT(printed({}), Catch::Contains("A tool") && Catch::Contains("seven") && Catch::Contains("help"));
  CHECK(printed({"help"}) == printed({}));
  REQUIRE_THAT(printed({"help", "count"}), Catch::Contains("--count") && !Catch::Contains("seven"));
  require_error([] { run_with({"help", "coumt"}); }, {"coumt", "count"});
}

TEST_CASE("an unknown subcommand and an option of another are wrong use") {
  CHECK_THROWS_AS(run_with({"eight"}), UsageError);
  CHECK_THROWS_AS(run_with({"seven", "--count", "5"}), UsageError);
}

TEST_CASE("an option of an enumeration takes its names") {
  const auto rotation_of = [](std::vector<const char*> words) {
    CLI::App app("tool");
    Rotation rotation = Rotation::z;
    add_enum_option(app, "--rotate", &rotation, "a rotation");
    words.insert(words.begin(), "tool");
    std::ostringstream out;
    parse_arguments(app, static_cast<int>(words.size()), words.data(), out);
    return std::pair(rotation, out.str());
  };
  REQUIRE(rotation_of({}).first == Rotation::z);
  for (const char* name : {"so3", "SO3", "So3"}) REQUIRE(rotation_of({"--rotate", name}).first == Rotation::so3);
  REQUIRE_THAT(rotation_of({"--help"}).second, Catch::Contains("--rotate") && Catch::Contains("=z"));
  require_error([&] { rotation_of({"--rotate", "x"}); }, {"--rotate", "none", "so3"});
}

TEST_CASE("threads and device come from the command line") {
  CHECK(parsed({}).threads == 0);
  CHECK(parsed({}).device == "auto");
  CHECK(parsed({"--threads", "3"}).threads == 3);
  CHECK(parsed({"--device", "cuda"}).device == "cuda");
  CHECK_THROWS_AS(parsed({"--threads", "-1"}), UsageError);
  CHECK_THROWS_AS(parsed({"--threads", "many"}), UsageError);
}

TEST_CASE("threads are set where they are given") {
  const int before = at::get_num_threads();
  parsed({"--threads", "0"}).apply();
  CHECK(at::get_num_threads() == before);
  parsed({"--threads", "2"}).apply();
  CHECK(at::get_num_threads() == 2);
  at::set_num_threads(before);
}

TEST_CASE("a device that this build cannot use is named") {
  CHECK_THROWS_AS(parsed({"--device", "gpu"}).apply(), UsageError);
  test::require_error([] { parsed({"--device", "gpu"}).apply(); }, {"gpu", "cuda", "cpu"});
  CHECK(parsed({"--device", "cpu"}).apply() == at::kCPU);
}

}  // namespace geosft::test::test_subcommand
