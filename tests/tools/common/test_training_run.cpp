// SPDX-License-Identifier: Apache-2.0
// What is here for its own sake; whole trainings are tested by the programs.
#include "tools/common/training_run.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_training_run {

TEST_CASE("a training that fails at once leaves no empty folder, and one that wrote something stays") {
  const TemporaryFolder temporary;
  const RunFolder empty = RunFolder::create(temporary / "empty");
  CHECK_THROWS_AS(train_or_clean(empty, []() -> bool { throw std::runtime_error("no data"); }), std::runtime_error);
  CHECK_FALSE(std::filesystem::exists(empty.path()));
  const RunFolder begun = RunFolder::create(temporary / "begun");
  begun.write_config("x = 1\n");
  CHECK_THROWS_AS(train_or_clean(begun, []() -> bool { throw std::runtime_error("no disk"); }), std::runtime_error);
  CHECK(std::filesystem::exists(begun.config()));
  CHECK_FALSE(train_or_clean(begun, [] { return false; }));
}

TEST_CASE("a resumed run refuses another configuration") {
  refuse_changes("x = 1\n", "x = 1\n", "--epochs");
  require_error([] { refuse_changes("x = 1\n", "x = 2\n", "--epochs"); }, {"--resume", "only --epochs may change"});
  CHECK_THROWS_AS(refuse_changes("a", "b", "c"), UsageError);
}

}  // namespace geosft::test::test_training_run
