// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/tools/experiment/small_graph_model.h"
#include "tests/tools/graph/graph_tool.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_graph_overrides {

TEST_CASE("a graph run is used as it was trained but for what is named") {
  const TemporaryFolder folder;
  GraphRun run = small_graph_run(small_graphs().schema);
  Checkpoint checkpoint{{}, describe_run<GraphLearning>(run.settings, {run.schema}, false).texts()};
  for (const auto& [name, tensor] : module_state(*run.model)) checkpoint.tensors.emplace("model." + name, tensor);
  save_checkpoint(folder / "x.ckpt", checkpoint);
  write_tiny_graphs(folder / "tiny");
  const std::string tiny = (folder / "tiny").string();
  const auto with = [&](std::vector<const char*> words, Overrides<GraphExperiment>& overrides) {
    CLI::App app("tool");
    overrides.add_to(app);
    words.insert(words.begin(), "tool");
    parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
  };
  Overrides<GraphExperiment> none, some;
  with({}, none);
  CHECK(none.load(folder / "x.ckpt").settings.config().to_toml() == run.settings.config().to_toml());
  with({"--data", tiny.c_str(), "--votes", "7", "--seed", "11", "--split-name", "random"}, some);
  const GraphSettings changed = some.load(folder / "x.ckpt").settings;
  CHECK(changed.data == tiny);
  CHECK(changed.evaluation.votes == 7);
  CHECK(changed.seed == 11);
  CHECK(changed.splits.split_name == "random");
  require_error([&] { open_run_graphs(some.load(folder / "x.ckpt")); }, {tiny, "splits", "random"});
  Overrides<GraphExperiment> elsewhere;
  with({"--data", tiny.c_str()}, elsewhere);
  require_error([&] { open_run_graphs(elsewhere.load(folder / "x.ckpt")); }, {tiny, "features and outputs"});
}

}  // namespace geosft::test::test_graph_overrides
