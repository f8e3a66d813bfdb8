// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/data_error.h"
#include "data/graphs/unlabelled_graphs.h"
#include "data/sequences/sequence_dataset.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/input_files.h"
#include "tools/graph/commands.h"
#include "tools/graph/graph_answers.h"
#include "tools/graph/graph_evaluation.h"
#include "tools/graph/graph_overrides.h"
#include "tools/graph/graph_prediction.h"

namespace geosft {
namespace {

// Title of an item: before the prediction as text, or as additional JSON fields.
struct ItemTitle {
  std::string text;
  nlohmann::json fields;
};

struct GraphPredictCommand {
  ItemWords words;
  std::string run, split = "all";
  std::vector<std::string> files, smiles;
  std::vector<int64_t> items;
  int64_t top = 3;
  bool json = false, fail_fast = false;
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
    return all_of(opened.graphs);
  }

  static std::vector<int64_t> all_of(const PackedItems& graphs) {
    std::vector<int64_t> all(static_cast<size_t>(graphs.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void print(const ItemSchema& schema, const at::Tensor& outputs, const ItemTitle& title) const {
    if (!json) {
      std::cout << title.text << ':' << prediction_text(schema, outputs, top) << '\n';
      return;
    }
    nlohmann::json line = prediction_json(schema, outputs, top);
    line.update(title.fields);
    std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }

  // Predicts some items in their order.
  template <class TitleOf>
  void answer(GraphRunModel& trained, const PackedItems& graphs, const std::vector<int64_t>& wanted,
              const TitleOf& title_of) const {
    const GraphTask task = trained.schema.task;
    const GraphOutputs found = run_outputs(trained, graphs, wanted, Part::test);
    const at::Tensor outputs = in_units(trained.model, task, found.outputs);
    const bool of_nodes = is_of_nodes(task);
    const at::Tensor& ptr = graphs.graphs.ptr;
    int64_t row = 0;
    for (const int64_t item : wanted) {
      const int64_t nodes = (ptr[item + 1] - ptr[item]).item<int64_t>();
      print(trained.schema, of_nodes ? outputs.narrow(0, row, nodes) : outputs[row], title_of(item));
      row += of_nodes ? nodes : 1;
    }
  }

  void answer_given(GraphRunModel& trained, UnlabelledGraphs given, const std::string& source) const {
    for (const std::string& warning : given.packed.warnings) std::cerr << warning << '\n';
    take_molecule_inputs(given.packed, trained.settings.molecules, source);
    const PackedItems graphs = without_answers(trained, given.packed);
    const auto title_of = [&](int64_t item) {
      const std::string& name = given.names[static_cast<size_t>(item)];
      ItemTitle title{name.empty() ? source : name, {{"file", source}, {words.item, item}}};
      if (name.empty() && graphs.size() > 1) title.text += " " + std::to_string(item);
      if (!name.empty()) title.fields["name"] = name;
      const at::Tensor& ids = given.node_ids;
      if (ids.defined() && is_of_nodes(trained.schema.task)) {
        title.fields["nodes"] =
            std::vector<int64_t>(ids.const_data_ptr<int64_t>(), ids.const_data_ptr<int64_t>() + ids.numel());
      }
      return title;
    };
    answer(trained, graphs, all_of(graphs), title_of);
  }

  static UnlabelledGraphs given_graphs(const GraphRunModel& trained, const std::string& file) {
    return read_unlabelled_graphs(file, trained.schema, trained.settings.reading());
  }

  static UnlabelledGraphs given_series(const GraphRunModel& trained, const std::string& file) {
    PackedItems series = in_tokens(read_unlabelled_series(file), trained.settings);
    const ItemSchema& schema = trained.schema;
    if (schema.node_values != series.schema.node_values || !schema.node_vocabulary.empty() || schema.grid_height > 0) {
      const bool numbers = schema.node_vocabulary.empty() && schema.grid_height == 0;
      throw DataError(file,
                      numbers ? "series of " + std::to_string(schema.node_values) + " values a step, as trained on"
                              : "what the model was trained on, texts or images",
                      "series of " + std::to_string(series.schema.node_values));
    }
    std::vector<std::string> names(static_cast<size_t>(series.size()));
    return {std::move(series), std::move(names), {}};
  }

  int answer_all_given() const {
    GraphRunModel trained = overrides.load(run);
    if (!smiles.empty()) answer_given(trained, unlabelled_molecules(smiles, trained.schema, "--smiles"), "--smiles");
    const auto each = [&](size_t i) {
      const std::string& file = files[i];
      answer_given(trained, words.graphs ? given_graphs(trained, file) : given_series(trained, file), file);
    };
    return for_each_file(words.graphs ? "geosft-graph" : "geosft-sequence", files.size(), fail_fast, each);
  }

  int execute() const {
    if (!files.empty() || !smiles.empty()) return answer_all_given();
    OpenedRun opened = open_run(overrides, run);
    const std::vector<int64_t> wanted = chosen(opened);
    if (wanted.empty()) throw UsageError("--split " + split + ": the data have no such part");
    const std::string& data = opened.trained.settings.data;
    answer(opened.trained, opened.graphs, wanted, [&](int64_t item) {
      return ItemTitle{std::to_string(item), {{"file", data}, {words.item, item}}};
    });
    return 0;
  }
};

}  // namespace

Command add_graph_predict_command(CLI::App& subcommand, const ItemWords& words) {
  auto command = std::make_shared<GraphPredictCommand>();
  command->words = words;
  subcommand.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  auto* items = subcommand.add_option("--" + words.items, command->items,
                                      "numbers of " + words.items + " of the dataset, from 0, separated by commas");
  items->delimiter(',')->check(CLI::Range(0, 1000000000));
  auto* split = subcommand.add_option(
      "--split", command->split, "without --" + words.items + ": which part of the dataset, as the run was trained");
  split->check(CLI::IsMember({"all", "train", "validation", "test"}))->capture_default_str();
  subcommand.add_option("--top", command->top, "classes to show a " + words.item)
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  subcommand.add_flag("--json", command->json, "print one JSON object a " + words.item);
  command->overrides.add_to(subcommand, words, "as for the other commands; predictions draw nothing from it");
  auto* files = subcommand.add_option(
      "FILE", command->files,
      words.graphs ? "graphs in place of the dataset: " + graph_file_formats_text() + ", or a folder in TU's form"
                   : "series in place of the dataset: *.ts, *.arff or UCR's *.tsv, whose classes are ignored");
  files->excludes(items)->excludes(split)->excludes("--data");
  subcommand.add_flag("--fail-fast", command->fail_fast, "stop at the first FILE that cannot be read")->needs(files);
  if (words.graphs) {
    auto* smiles =
        subcommand.add_option("--smiles", command->smiles, "a molecule in place of the dataset; may be repeated");
    smiles->allow_extra_args(false);  // the next argument is a FILE
    smiles->excludes(items)->excludes(split)->excludes("--data")->excludes("--split-name");
    files->excludes("--split-name");
  }
  return [command] { return command->execute(); };
}

}  // namespace geosft
