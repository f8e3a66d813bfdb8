// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/common/arguments.h"
#include "tools/graph/commands.h"
#include "tools/graph/graph_evaluation.h"
#include "tools/graph/graph_overrides.h"
#include "tools/graph/graph_prediction.h"

namespace geosft {
namespace {

struct GraphPredictCommand {
  ItemWords words;
  std::string run, split = "all";
  std::vector<int64_t> items;
  int64_t top = 3;
  bool json = false;
  GraphOverrides overrides;

  std::vector<int64_t> chosen(const OpenedRun& opened) const {
    for (const int64_t item : items) {
      if (item >= opened.graphs.size()) {
        throw UsageError("--" + words.items + ": the data have " + words.items + " 0 … " +
                         std::to_string(opened.graphs.size() - 1) + ", found " + std::to_string(item));
      }
    }
    if (!items.empty()) return items;
    if (split != "all") return items_of_part(split_of(opened.graphs, opened.trained.settings.splits), part_of(split));
    std::vector<int64_t> all(static_cast<size_t>(opened.graphs.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void print(const OpenedRun& opened, int64_t item, const at::Tensor& outputs) const {
    const GraphSchema& schema = opened.trained.schema;
    const std::string& data = opened.trained.settings.data;
    if (!json) {
      std::cout << item << ':' << prediction_text(schema, outputs, top) << '\n';
      return;
    }
    nlohmann::json line = prediction_json(schema, outputs, top);
    line["file"] = data;
    line[words.item] = item;
    std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }

  int execute() {
    OpenedRun opened = open_run(overrides, run);
    GraphModel& model = opened.trained.model;
    const std::vector<int64_t> wanted = chosen(opened);
    if (wanted.empty()) throw UsageError("--split " + split + ": the data have no such part");
    const GraphOutputs found =
        graph_outputs(model, opened.graphs, wanted, Part::test, opened.trained.settings.evaluation);
    const at::Tensor outputs = in_units(model, opened.trained.schema.task, found.outputs);
    const bool of_nodes = opened.trained.schema.task == GraphTask::node_classification;
    const at::Tensor& ptr = opened.graphs.graphs.ptr;
    int64_t row = 0;
    for (const int64_t item : wanted) {
      const int64_t nodes = (ptr[item + 1] - ptr[item]).item<int64_t>();
      print(opened, item, of_nodes ? outputs.narrow(0, row, nodes) : outputs[row]);
      row += of_nodes ? nodes : 1;
    }
    return 0;
  }
};

}  // namespace

Command add_graph_predict_command(CLI::App& verb, const ItemWords& words) {
  auto command = std::make_shared<GraphPredictCommand>();
  command->words = words;
  verb.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  verb.add_option("--" + words.items, command->items,
                  "numbers of " + words.items + " of the dataset, from 0, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(0, 1000000000));
  verb.add_option("--split", command->split,
                  "without --" + words.items + ": which part of the dataset, as the run was trained")
      ->check(CLI::IsMember({"all", "train", "validation", "test"}))
      ->capture_default_str();
  verb.add_option("--top", command->top, "classes to show a " + words.item)
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb.add_flag("--json", command->json, "print one JSON object a " + words.item);
  command->overrides.add_to(verb, words, "as for the other commands; predictions draw nothing from it");
  return [command] { return command->execute(); };
}

}  // namespace geosft
