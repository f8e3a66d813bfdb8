// SPDX-License-Identifier: Apache-2.0
#include "tools/common/runtime_options.h"

#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/support.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_runtime_options {

namespace {

RuntimeOptions parsed(std::vector<const char*> words) {
  CLI::App app("tool");
  RuntimeOptions options;
  options.add_to(app);
  words.insert(words.begin(), "tool");
  parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
  return options;
}

}  // namespace

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

}  // namespace geosft::test::test_runtime_options
