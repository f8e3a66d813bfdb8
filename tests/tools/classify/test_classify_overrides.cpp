// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_experiment.h"

#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/tools/classify/small_classifier.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_classify_overrides {

namespace {

// A checkpoint file, and what is loaded from it with some words on the command line.
struct Trained {
  TemporaryFolder folder;
  std::filesystem::path file = folder / "x.ckpt";

  Trained() {
    ClassifySettings settings = small_settings();
    settings.data = "/some/data";
    settings.seed = 5;
    settings.evaluation.votes = 2;
    Checkpoint checkpoint{{}, describe_run<Classification>(settings, {{"a", "b", "c"}}).texts()};
    for (const auto& [name, tensor] : module_state(*small_model(settings))) {
      checkpoint.tensors.emplace("model." + name, tensor);
    }
    save_checkpoint(file, checkpoint);
  }
  RunModel load(std::vector<const char*> words) const {
    CLI::App app("tool");
    Overrides<ClassifyExperiment> overrides;
    overrides.add_to(app);
    words.insert(words.begin(), "tool");
    parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
    return overrides.load(file);
  }
};

}  // namespace

TEST_CASE("without options a run is used as it was trained") {
  RunModel loaded = Trained().load({});
  ClassifySettings expected = small_settings();
  expected.data = "/some/data";
  expected.seed = 5;
  expected.evaluation.votes = 2;
  CHECK(loaded.settings.config().to_toml() == expected.config().to_toml());
  CHECK(loaded.class_names.size() == 3);
}

TEST_CASE("options change what they name and nothing else") {
  const Trained trained;
  ClassifySettings expected = trained.load({}).settings;
  ClassifySettings settings =
      trained.load({"--data", "elsewhere", "--votes", "7", "--points", "9", "--evaluation", "greedy", "--seed", "11"})
          .settings;
  expected.data = "elsewhere";
  expected.evaluation.votes = 7;
  expected.clouds.points = 9;
  expected.evaluation.evaluation = SampleMode::greedy;
  expected.seed = 11;
  CHECK(settings.config().to_toml() == expected.config().to_toml());
}

TEST_CASE("loading sets the threads") {
  const int before = at::get_num_threads();
  Trained().load({"--threads", "2"});
  CHECK(at::get_num_threads() == 2);
  at::set_num_threads(before);
}

TEST_CASE("values that are not permitted are refused") {
  const Trained trained;
  for (const auto& [option, value] : {std::pair{"--votes", "0"},
                                      {"--points", "0"},
                                      {"--points", "many"},
                                      {"--evaluation", "loud"},
                                      {"--seed", "-1"},
                                      {"--device", "cuda"}}) {
    INFO(option << ' ' << value);
    CHECK_THROWS_AS(trained.load({option, value}), UsageError);
  }
}

}  // namespace geosft::test::test_classify_overrides
