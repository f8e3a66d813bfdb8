// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/layers/primal_head_distance.h"
#include "tools/experiment/arguments.h"
#include "tools/graph/commands.h"
#include "tools/graph/graph_overrides.h"
#include "tools/graph/graph_report.h"

namespace geosft {
namespace {

struct GraphEvalCommand {
  std::string run, split = "test";
  int64_t renumber = 0;
  bool json = false, heads = false;
  GraphOverrides overrides;

  int execute() {
    OpenedRun opened = open_run(overrides, run);
    const DatasetSplit parts = split_of(opened.graphs, opened.trained.settings.splits);
    const Part part = part_of(split);
    if (items_of_part(parts, part).empty()) throw UsageError("--split " + split + ": the data have no such part");
    if (heads && watch_heads(*opened.trained.model) == 0) {
      const GraphModelSettings& model = opened.trained.settings.model;
      throw UsageError("--heads: the distance is that of several heads of primal-dual attention, found attention " +
                       model.attention + " with heads " + std::to_string(model.heads));
    }
    const GraphReport report = evaluate_graphs(opened.trained, opened.graphs, parts, part, renumber);
    const std::vector<std::string>& names = opened.trained.schema.output_names;
    if (std::filesystem::is_directory(run)) draw_report(report, names, RunFolder::open(run));
    if (json) {
      std::cout << report_json(report).dump() << '\n';
    } else {
      std::cout << report_text(report, names);
    }
    return 0;
  }
};

}  // namespace

Command add_graph_eval_command(CLI::App& subcommand, const ItemWords& words) {
  auto command = std::make_shared<GraphEvalCommand>();
  subcommand.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  subcommand.add_option("--split", command->split, "which part of the dataset, as the run was trained")
      ->check(CLI::IsMember({"train", "validation", "test"}))
      ->capture_default_str();
  if (words.graphs) {
    subcommand.add_option("--renumber", command->renumber, "evaluate again with the nodes renumbered, so many times")
        ->check(CLI::Range(0, 1000000))
        ->capture_default_str();
  }
  subcommand.add_flag("--heads", command->heads,
                      "also say how far apart the attention of heads is, layer by layer (primal-dual)");
  subcommand.add_flag("--json", command->json, "print one JSON object");
  command->overrides.add_to(subcommand, words, words.graphs ? "of the renumberings" : "of what the samplers draw");
  return [command] { return command->execute(); };
}

}  // namespace geosft
