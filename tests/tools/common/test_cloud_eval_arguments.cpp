// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cloud_eval_arguments.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/support.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_cloud_eval_arguments {
namespace {

CloudEvalArguments parsed(const std::vector<const char*>& words) {
  CLI::App app;
  CloudEvalArguments given;
  given.add_to(app, {"train", "test"});
  std::ostringstream out;
  parse_arguments(app, static_cast<int>(words.size()), words.data(), out);
  return given;
}

}  // namespace

TEST_CASE("clouds are evaluated upright once, and turned as often as asked") {
  const CloudEvalArguments upright = parsed({"eval", "run", "--repeats", "7"});
  CHECK(upright.run == "run");
  CHECK(upright.split == "test");
  CHECK(upright.rotation() == Rotation::none);
  CHECK(upright.turns() == 1);
  const CloudEvalArguments turned = parsed({"eval", "run", "--rotate", "so3", "--repeats", "7", "--split", "train"});
  CHECK(turned.rotation() == Rotation::so3);
  CHECK(turned.turns() == 7);
  CHECK(turned.split == "train");
}

TEST_CASE("an evaluation refuses what it does not have") {
  require_error([] { parsed({"eval"}); }, {"RUN"});
  require_error([] { parsed({"eval", "run", "--split", "validation"}); }, {"--split", "validation"});
  require_error([] { parsed({"eval", "run", "--rotate", "x"}); }, {"--rotate", "x"});
  require_error([] { parsed({"eval", "run", "--repeats", "0"}); }, {"--repeats"});
}

}  // namespace geosft::test::test_cloud_eval_arguments
