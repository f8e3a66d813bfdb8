// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/eval_options.h"

#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include <iostream>
#include <sstream>

#include "tests/support.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_eval_options {
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

struct Given : RunArguments, CloudEvalOptions {};

Given parsed(const std::vector<const char*>& words) {
  CLI::App app;
  Given given;
  given.add_run_to(app);
  given.add_to(app, {"train", "test"});
  given.add_json_to(app);
  std::ostringstream out;
  parse_arguments(app, static_cast<int>(words.size()), words.data(), out);
  return given;
}

}  // namespace

TEST_CASE("overrides replace what they name and leave the rest") {
  const Used plain({});
  CHECK(plain.data == "trained on");
  CHECK(plain.seed == 1);
  CHECK(plain.evaluation.evaluation == SampleMode::seeded);
  CHECK(plain.evaluation.votes == 1);
  const Used changed({"--data", "x", "--seed", "5", "--votes", "3", "--evaluation", "greedy"});
  CHECK(changed.data == "x");
  CHECK(changed.seed == 5);
  CHECK(changed.evaluation.evaluation == SampleMode::greedy);
  CHECK(changed.evaluation.votes == 3);
}

TEST_CASE("the precision of an evaluation is float32 unless it is given") {
  CHECK_FALSE(Used({}).evaluation.autocast().has_value());
  CHECK_FALSE(Used({"--precision", "float32"}).evaluation.autocast().has_value());
  CHECK(Used({"--precision", "bfloat16"}).evaluation.autocast() == at::kBFloat16);
  CHECK_THROWS_AS(Used({"--precision", "float16"}), UsageError);
}

TEST_CASE("bfloat16 on a CPU without it is an error in one line") {
  const auto overrides_of = [](std::vector<const char*> words) {
    CLI::App app("tool");
    RunOverrides overrides;
    overrides.add_to(app, "the data", "the seed");
    words.insert(words.begin(), "tool");
    parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
    return overrides;
  };
  const RunOverrides half = overrides_of({"--precision", "bfloat16"});
  require_error([&] { half.check_precision(at::kCPU, false); }, {"--precision", "AVX512-BF16"});
  CHECK_NOTHROW(half.check_precision(at::kCPU, true));
  CHECK_NOTHROW(half.check_precision(at::kCUDA, false));
  CHECK_NOTHROW(overrides_of({}).check_precision(at::kCPU, false));
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

TEST_CASE("clouds are evaluated upright once, and turned as often as asked") {
  const Given upright = parsed({"eval", "run"});
  CHECK(upright.run == "run");
  CHECK_FALSE(upright.json);
  CHECK(parsed({"eval", "run", "--json"}).json);
  CHECK(upright.split == "test");
  CHECK(upright.rotation == Rotation::none);
  CHECK(upright.turns() == 1);
  const Given turned = parsed({"eval", "run", "--rotate", "so3", "--repeats", "7", "--split", "train"});
  CHECK(turned.rotation == Rotation::so3);
  CHECK(turned.turns() == 7);
  CHECK(turned.split == "train");
}

TEST_CASE("an evaluation refuses what it does not have") {
  require_error([] { parsed({"eval"}); }, {"RUN"});
  require_error([] { parsed({"eval", "run", "--split", "validation"}); }, {"--split", "validation"});
  require_error([] { parsed({"eval", "run", "--rotate", "x"}); }, {"--rotate", "x"});
  require_error([] { parsed({"eval", "run", "--repeats", "0"}); }, {"--repeats"});
  require_error([] { parsed({"eval", "run", "--repeats", "7"}).turns(); }, {"--repeats", "--rotate"});
}

}  // namespace geosft::test::test_eval_options
