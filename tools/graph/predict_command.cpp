// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <numeric>

#include "data/data_error.h"
#include "data/graphs/tu_dataset.h"
#include "data/graphs/unlabelled_graphs.h"
#include "data/sequences/picture_folders.h"
#include "data/sequences/sequence_dataset.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/graph_prediction.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/output_files.h"
#include "tools/graph/graph_experiment.h"

namespace geosft {
namespace {

// Title of an item: before the prediction as text, or as additional JSON fields.
struct ItemTitle {
  std::string text;
  nlohmann::json fields;
  at::Tensor node_ids = {};  // as in UnlabelledGraphs
};

// Predicts by a trained model, prints, and collects the rows of a CSV file.
struct Predictor {
  const GraphPredictOptions& options;
  GraphRun& trained;
  const ItemWords& words;
  PredictionTable table{options.csv, columns()};

  std::vector<std::string> columns() const {
    std::vector<std::string> names{"file", words.item, "name"};
    for (const std::string& column : prediction_columns(trained.schema, options.top)) names.push_back(column);
    return names;
  }

  void add_rows(const at::Tensor& outputs, const ItemTitle& title) {
    if (!table.wanted()) return;
    for (const auto& prediction : prediction_rows(trained.schema, outputs, options.top, title.node_ids)) {
      std::vector<std::string> row{title.fields.at("file"), title.fields.value(words.item, nlohmann::json(0)).dump(),
                                   title.fields.value("name", "")};
      row.insert(row.end(), prediction.begin(), prediction.end());
      table.add(std::move(row));
    }
  }

  std::vector<int64_t> chosen(const PackedItems& graphs) const {
    for (const int64_t item : options.chosen) {
      if (item >= graphs.size()) {
        throw UsageError(
            c10::str("--", words.items, ": the data have ", words.items, " 0 … ", graphs.size() - 1, ", found ", item));
      }
    }
    if (!options.chosen.empty()) return options.chosen;
    if (options.split == "all") return all_of(graphs);
    return items_of_split(split_of(graphs, trained.settings.splits), value_named<GraphSplit>(options.split, "split"));
  }

  static std::vector<int64_t> all_of(const PackedItems& graphs) {
    std::vector<int64_t> all(static_cast<size_t>(graphs.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void print(const at::Tensor& outputs, const ItemTitle& title) {
    add_rows(outputs, title);
    if (!options.json) {
      std::cout << title.text << ':' << prediction_text(trained.schema, outputs, options.top) << '\n';
      return;
    }
    nlohmann::json line = prediction_json(trained.schema, outputs, options.top);
    line.update(title.fields);
    std::cout << json_line(line);
  }

  // Predicts some items in their order.
  template <class TitleOf>
  void predict(const PackedItems& graphs, const std::vector<int64_t>& wanted, const TitleOf& title_of) {
    const GraphTask task = trained.schema.task;
    const GraphOutputs found = run_outputs(trained, graphs, wanted, GraphSplit::test);
    const at::Tensor outputs = in_units(trained.model, task, found.outputs);
    const bool of_nodes = is_of_nodes(task);
    const at::Tensor& ptr = graphs.graphs.ptr;
    int64_t row = 0;
    for (const int64_t item : wanted) {
      const int64_t nodes = (ptr[item + 1] - ptr[item]).item<int64_t>();
      print(of_nodes ? outputs.narrow(0, row, nodes) : outputs[row], title_of(item));
      row += of_nodes ? nodes : 1;
    }
  }

  void predict_unlabelled(UnlabelledGraphs given, const std::string& source) {
    for (const std::string& warning : given.packed.warnings) std::cerr << warning << '\n';
    take_molecule_inputs(given.packed, trained.settings.molecules, source);
    const PackedItems graphs = unlabelled_items(trained, given.packed);
    const auto title_of = [&](int64_t item) {
      const std::string& name = given.names[static_cast<size_t>(item)];
      ItemTitle title{name.empty() ? source : name, {{"file", source}, {words.item, item}}};
      if (name.empty() && graphs.size() > 1) title.text += " " + std::to_string(item);
      if (!name.empty()) title.fields["name"] = name;
      const at::Tensor& ids = given.node_ids;
      if (ids.defined() && is_of_nodes(trained.schema.task)) {
        title.node_ids = ids;
        title.fields["nodes"] =
            std::vector<int64_t>(ids.const_data_ptr<int64_t>(), ids.const_data_ptr<int64_t>() + ids.numel());
      }
      return title;
    };
    predict(graphs, all_of(graphs), title_of);
  }

  UnlabelledGraphs unlabelled_series(const std::string& file) const {
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

  void predict_picture(const std::string& file) {
    const ItemSchema& schema = trained.schema;
    PackedItems picture = in_tokens(single_picture(file), trained.settings);
    if (schema.items != picture.schema.items || schema.node_values != picture.schema.node_values) {
      throw DataError(file, "what the model was trained on, " + schema.items, "a picture");
    }
    picture.schema = schema;
    predict(picture, all_of(picture), [&](int64_t) { return ItemTitle{file, {{"file", file}}}; });
  }

  void predict_file(const std::string& file) {
    if (!words.edges && is_picture_name(file)) return predict_picture(file);
    predict_unlabelled(words.edges ? read_unlabelled_graphs(file, trained.schema, trained.settings.reading())
                                   : unlabelled_series(file),
                       file);
  }

  void predict_dataset() {
    const PackedItems graphs = open_run_graphs(trained);
    const std::vector<int64_t> wanted = chosen(graphs);
    if (wanted.empty()) throw UsageError("--split " + options.split + ": the data have no such part");
    const std::string& data = trained.settings.data;
    predict(graphs, wanted, [&](int64_t item) {
      return ItemTitle{std::to_string(item), {{"file", data}, {words.item, item}}};
    });
  }
};

bool has_sequence_ending(const std::filesystem::path& file) {
  return has_series_ending(file) || is_picture_name(file.string());
}

// Returns whether a folder is a set in TU's form, or a broken one, of which reading it says more.
bool is_graph_folder(const std::filesystem::path& folder) {
  try {
    return is_tu_dataset(folder);
  } catch (const DataError&) {
    return true;
  }
}

}  // namespace

void GraphPredictOptions::add_to(CLI::App& subcommand, const ItemWords& words) {
  const std::string name = words.item, names = words.items;
  add_run_to(subcommand);
  subcommand.add_option("--" + names, chosen, "numbers of " + names + " of the dataset, from 0, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(0, 1000000000));
  std::vector<std::string> splits = enum_names<GraphSplit>();
  splits.insert(splits.begin(), "all");
  subcommand.add_option("--split", split, "without --" + names + ": which part of the dataset, as the run was trained")
      ->check(CLI::IsMember(splits))
      ->capture_default_str();
  subcommand.add_option("--top", top, "classes to show a " + name)
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  add_json_to(subcommand, "print one JSON object a " + name);
  subcommand
      .add_option("--csv", csv,
                  "write the predictions to this file, a row for each " + name + "" + (words.edges ? " or node" : ""))
      ->check(unwritable);
}

void GraphPredictOptions::add_inputs_to(CLI::App& subcommand, const ItemWords& words) {
  const auto replaces_dataset = [&](CLI::Option* option) {
    for (const std::string& one : {std::string("--") + words.items, std::string("--split"), std::string("--data")}) {
      option->excludes(one);
    }
    if (words.edges) option->excludes("--split-name");
  };
  auto* given = subcommand.add_option(
      "FILE", files,
      words.edges ? "graphs in place of the dataset: " + graph_file_formats_text() +
                        ", or a folder in TU's form; folders of them, or patterns such as 'a/*.mtx'"
                  : "series in place of the dataset: *.ts, *.arff or UCR's *.tsv, whose classes are ignored; or "
                    "pictures: *.jpg, *.jpeg, *.png; folders of them, or patterns such as 'a/*.ts'");
  replaces_dataset(given);
  subcommand.add_flag("--fail-fast", fail_fast, "stop at the first FILE that cannot be read")->needs(given);
  if (!words.edges) return;
  auto* molecules = subcommand.add_option("--smiles", smiles, "a molecule in place of the dataset; may be repeated");
  molecules->allow_extra_args(false);  // the next argument is a FILE
  replaces_dataset(molecules);
}

int GraphPredictOptions::predict(GraphRun& trained, const char* program, const ItemWords& words) const {
  Predictor predictor{*this, trained, words};
  const InputFiles inputs =
      input_files(files, words.edges ? InputKind{graph_endings(), has_graph_ending, is_graph_folder}
                                     : InputKind{".ts, .arff, .tsv, .jpg, .jpeg or .png", has_sequence_ending});
  if (files.empty() && smiles.empty()) predictor.predict_dataset();
  if (!smiles.empty()) {
    predictor.predict_unlabelled(unlabelled_molecules(smiles, trained.schema, "--smiles"), "--smiles");
  }
  return predictor.table.predict(program, inputs.files, fail_fast,
                                 [&](size_t i) { predictor.predict_file(inputs.files[i]); });
}

}  // namespace geosft
