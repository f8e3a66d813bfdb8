// SPDX-License-Identifier: Apache-2.0
#include "tools/common/run_overrides.h"

#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <iostream>

#include "tools/common/arguments.h"

namespace geosft::test::test_run_overrides {
namespace {

struct Used {
  std::string data = "trained on";
  uint64_t seed = 1;
  EvaluationSettings evaluation;

  explicit Used(std::vector<const char*> words) {
    CLI::App app("tool");
    RunOverrides overrides;
    overrides.add_to(app, "the data", "the seed");
    words.insert(words.begin(), "tool");
    parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
    overrides.apply_runtime();
    overrides.apply(data, seed, evaluation);
  }
};

}  // namespace

TEST_CASE("overrides replace what they name and leave the rest") {
  const Used plain({});
  CHECK(plain.data == "trained on");
  CHECK(plain.seed == 1);
  CHECK(plain.evaluation.evaluation == "seeded");
  CHECK(plain.evaluation.votes == 1);
  const Used changed({"--data", "x", "--seed", "5", "--votes", "3", "--evaluation", "greedy"});
  CHECK(changed.data == "x");
  CHECK(changed.seed == 5);
  CHECK(changed.evaluation.evaluation == "greedy");
  CHECK(changed.evaluation.votes == 3);
}

TEST_CASE("overrides set the threads and refuse what they cannot use") {
  const int before = at::get_num_threads();
  Used({"--threads", "2"});
  CHECK(at::get_num_threads() == 2);
  at::set_num_threads(before);
  CHECK_THROWS_AS(Used({"--votes", "0"}), UsageError);
  CHECK_THROWS_AS(Used({"--evaluation", "loud"}), UsageError);
  CHECK_THROWS_AS(Used({"--device", "gpu"}), UsageError);
}

}  // namespace geosft::test::test_run_overrides
