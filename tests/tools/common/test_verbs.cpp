// SPDX-License-Identifier: Apache-2.0
#include "tools/common/verbs.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <memory>

#include "tools/common/arguments.h"

namespace geosft::test::test_verbs {
namespace {

Command add_seven(CLI::App&) {
  return [] { return 7; };
}

Command add_count(CLI::App& verb) {
  auto count = std::make_shared<int>(1);
  verb.add_option("--count", *count, "what comes back");
  return [count] { return *count; };
}

int run_with(std::vector<const char*> words) {
  words.insert(words.begin(), "tool");
  return run_verbs("A tool", {{"seven", "gives seven", add_seven}, {"count", "gives a number", add_count}},
                   static_cast<int>(words.size()), words.data());
}

}  // namespace

TEST_CASE("the verb that is named runs with its options") {
  CHECK(run_with({"seven"}) == 7);
  CHECK(run_with({"count"}) == 1);
  CHECK(run_with({"count", "--count", "5"}) == 5);
}

TEST_CASE("no verb, an unknown one and an option of another are wrong use") {
  CHECK_THROWS_AS(run_with({}), UsageError);
  CHECK_THROWS_AS(run_with({"eight"}), UsageError);
  CHECK_THROWS_AS(run_with({"seven", "--count", "5"}), UsageError);
}

}  // namespace geosft::test::test_verbs
