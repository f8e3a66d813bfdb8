// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <iostream>

#include "models/training/training_loop.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_segment_overrides {
namespace {

SegmentRun loaded(std::vector<const char*> words) {
  const TemporaryFolder folder;
  SegmentSettings settings = small_segment_settings();
  settings.data = "/some/data";
  settings.clouds.block = 30;
  Checkpoint checkpoint{{}, describe_run<Segmentation>(settings, {{small_classes}, small_parts()}).texts()};
  for (const auto& [name, tensor] : module_state(*small_segmenter(settings))) {
    checkpoint.tensors.emplace("model." + name, tensor);
  }
  save_checkpoint(folder / "x.ckpt", checkpoint);
  CLI::App app("tool");
  Overrides<SegmentExperiment> overrides;
  overrides.add_to(app);
  words.insert(words.begin(), "tool");
  parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
  return overrides.load(folder / "x.ckpt");
}

}  // namespace

TEST_CASE("a model of parts is used as it was trained, but for what is given") {
  const SegmentSettings same = loaded({"--device", "cpu"}).settings;
  CHECK(same.data == "/some/data");
  CHECK(same.clouds.block == 30);
  CHECK(same.evaluation.votes == 1);
  const SegmentSettings other = loaded({"--device", "cpu", "--data", "here", "--block", "0", "--votes", "3", "--seed",
                                        "8", "--evaluation", "greedy"})
                                    .settings;
  CHECK(other.data == "here");
  CHECK(other.clouds.block == 0);
  CHECK(other.evaluation.votes == 3);
  CHECK(other.seed == 8);
  CHECK(other.evaluation.evaluation == SampleMode::greedy);
  require_error([] { loaded({"--block", "-3"}); }, {"--block"});
}

}  // namespace geosft::test::test_segment_overrides
