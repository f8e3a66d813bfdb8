// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <numeric>

#include "data/atomic_file.h"
#include "data/data_error.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/molecule_table.h"
#include "data/graphs/tu_dataset.h"
#include "data/graphs/unlabelled_graphs.h"
#include "data/safe_join.h"
#include "data/sequences/picture_folders.h"
#include "data/sequences/sequence_dataset.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/graph_prediction.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/output_files.h"
#include "tools/graph/graph_experiment.h"
#include "tools/graph/prediction_csv.h"

namespace geosft {
namespace {

// Title of an item: before the prediction as text, or as additional JSON fields.
struct ItemTitle {
  std::string text;
  nlohmann::json fields;
  at::Tensor node_ids = {};                                      // as in UnlabelledGraphs
  std::vector<std::pair<std::string, std::string>> others = {};  // as in PredictedRow
  std::vector<std::string> measures = {};                        // fields of the deviation and the target
};

// Holds what a model says of an item: [outputs], or [n, outputs] for its nodes.
struct ItemPrediction {
  at::Tensor outputs;
  at::Tensor deviation = {};  // [outputs], as in OutputSpread; undefined if there is one prediction, or for nodes
  at::Tensor target = {};     // as in PackedItems, of one graph
};

// Returns whether an item has several predictions that may differ: of several models, or of votes for which tokens are
// sampled at random.
bool predictions_differ(const GraphRun& trained) {
  return !trained.more_models.empty() || (votes_differ(trained) && trained.settings.evaluation.votes > 1);
}

// Predicts by a trained model, prints, and collects the rows of a CSV file.
struct Predictor {
  const GraphPredictOptions& options;
  GraphRun& trained;
  const ItemWords& words;
  std::vector<PredictedRow> rows = {};
  bool spreads = predictions_differ(trained) && !is_of_nodes(trained.schema.task);  // they have a deviation
  bool broken = false;                                                              // a row of a file could not be read

  PredictedRow row_of(const ItemTitle& title) const {
    const nlohmann::json& fields = title.fields;
    PredictedRow row{fields.at("file"), fields.value(words.item, nlohmann::json(0)).dump(), fields.value("name", "")};
    if (fields.contains("line")) row.line = fields.at("line").dump();
    row.smiles = fields.value("smiles", "");
    row.others = title.others;
    return row;
  }

  // Returns whether the table has targets: predictions are of the dataset.
  bool has_targets() const { return options.takes_dataset() && !is_of_nodes(trained.schema.task); }

  std::vector<std::string> columns() const {
    std::vector<std::string> names = prediction_columns(trained.schema, options.top);
    const auto append = [&](const std::vector<std::string>& more) {
      names.insert(names.end(), more.begin(), more.end());
    };
    if (spreads) append(deviation_columns(trained.schema, options.top));
    if (has_targets()) append(target_columns(trained.schema));
    return names;
  }

  void add_rows(const at::Tensor& outputs, const ItemTitle& title) {
    if (options.csv.empty()) return;
    PredictedRow row = row_of(title);
    for (auto& prediction : prediction_rows(trained.schema, outputs, options.top, title.node_ids)) {
      row.prediction = std::move(prediction);
      row.prediction.insert(row.prediction.end(), title.measures.begin(), title.measures.end());
      rows.push_back(row);
    }
  }

  void add_error(const std::string& file, const std::string& error) {
    PredictedRow& row = rows.emplace_back();
    row.file = file;
    row.error = error;
    if (options.json) std::cout << json_line({{"file", file}, {"error", error}});
  }

  // Reports a row of a file that is no graph.
  void add_broken(const ItemTitle& title, const std::string& error) {
    broken = true;
    rows.push_back(row_of(title));
    rows.back().error = error;
    if (!options.json) return;  // the warnings of the file have said it
    nlohmann::json line = title.fields;
    line["error"] = error;
    std::cout << json_line(line);
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
    const DatasetSplit splits = split_of_run(trained, graphs);
    const auto split = value_named<GraphSplit>(options.split, "split");
    require_split(trained, splits, split);
    return items_of_split(splits, split);
  }

  static std::vector<int64_t> all_of(const PackedItems& graphs) {
    std::vector<int64_t> all(static_cast<size_t>(graphs.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void print(const ItemPrediction& predicted, ItemTitle title) {
    const at::Tensor& outputs = predicted.outputs;
    const auto append = [&](const std::vector<std::string>& more) {
      title.measures.insert(title.measures.end(), more.begin(), more.end());
    };
    if (spreads) append(deviation_fields(trained.schema, outputs, predicted.deviation, options.top));
    if (has_targets()) append(target_fields(trained.schema, predicted.target));
    add_rows(outputs, title);
    if (!options.json) {
      std::cout << title.text << ':' << prediction_text(trained.schema, outputs, options.top) << '\n';
      return;
    }
    nlohmann::json line = prediction_json(trained.schema, outputs, options.top);
    line.update(title.fields);
    std::cout << json_line(line);
  }

  // Predicts some items, and calls each(item, prediction) for them in their order.
  template <class Each>
  void predict(const PackedItems& graphs, const std::vector<int64_t>& items, const Each& each) {
    const GraphTask task = trained.schema.task;
    const GraphOutputs found = run_outputs(trained, graphs, items, GraphSplit::test);
    const at::Tensor outputs = in_units(trained.model, task, found.outputs);
    const bool of_nodes = is_of_nodes(task);
    const at::Tensor deviation = spreads ? found.spread.deviation() : at::Tensor();
    const at::Tensor& ptr = graphs.graphs.ptr;
    int64_t row = 0;
    for (const int64_t item : items) {
      const int64_t nodes = (ptr[item + 1] - ptr[item]).item<int64_t>();
      if (of_nodes) {
        each(item, ItemPrediction{outputs.narrow(0, row, nodes)});
      } else {
        each(item, ItemPrediction{outputs[row], spreads ? deviation[row] : at::Tensor(), graphs.target[item]});
      }
      row += of_nodes ? nodes : 1;
    }
  }

  // Returns the title of a row of a file of SMILES.
  ItemTitle title_of_row(const SmilesFile& input, size_t row) const {
    const std::string &smiles = input.column.smiles[row], &id = input.names[row], &file = input.column.file;
    const std::string name = id.empty() ? smiles : smiles + " " + id;
    ItemTitle title{
        name,
        {{"file", file}, {words.item, row}, {"name", name}, {"line", input.column.lines[row]}, {"smiles", smiles}}};
    if (!id.empty()) title.others.emplace_back("id", id);
    for (size_t column = 0; column < input.others.names.size(); ++column) {
      std::string name_of_column = input.others.names[column];
      const auto taken = [&](const auto& other) { return other.first == name_of_column; };
      while (std::any_of(title.others.begin(), title.others.end(), taken)) name_of_column.insert(0, "input_");
      title.others.emplace_back(std::move(name_of_column), input.others.columns[column][row]);
    }
    for (const auto& [key, value] : title.others) title.fields["input"][key] = value;
    return title;
  }

  // Predicts the molecules of a file of SMILES. Its rows keep their numbers, and those that are invalid are reported in
  // their places.
  void predict_rows(const PackedItems& graphs, const SmilesFile& input, const std::vector<std::string>& errors) {
    size_t next = 0;
    const auto report_broken = [&] {
      for (; next < errors.size() && !errors[next].empty(); ++next) {
        add_broken(title_of_row(input, next), "invalid SMILES: " + errors[next]);
      }
    };
    predict(graphs, all_of(graphs), [&](int64_t, const ItemPrediction& outputs) {
      report_broken();
      print(outputs, title_of_row(input, next++));
    });
    report_broken();
  }

  void predict_unlabelled(UnlabelledGraphs given, const std::string& source) {
    for (const std::string& warning : given.packed.warnings) std::cerr << warning << '\n';
    warn_of_unlike_molecules(trained, given.packed, source);
    take_graph_vectors(given.packed, trained.settings.molecules, source);
    const PackedItems graphs = unlabelled_items(trained, given.packed);
    if (!given.errors.empty()) return predict_rows(graphs, given.input, given.errors);
    predict(graphs, all_of(graphs), [&](int64_t item, const ItemPrediction& outputs) {
      ItemTitle title{source, {{"file", source}, {words.item, item}}};
      if (graphs.size() > 1) title.text += " " + std::to_string(item);
      const std::string& name = given.names[static_cast<size_t>(item)];
      if (!name.empty()) title.fields["name"] = name;
      const at::Tensor& ids = given.node_ids;
      if (ids.defined() && is_of_nodes(trained.schema.task)) {
        title.node_ids = ids;
        title.fields["nodes"] =
            std::vector<int64_t>(ids.const_data_ptr<int64_t>(), ids.const_data_ptr<int64_t>() + ids.numel());
      }
      print(outputs, title);
    });
  }

  UnlabelledGraphs unlabelled_series(const std::string& file) const {
    PackedItems read = read_unlabelled_series(file);
    const int64_t dimensions = read.schema.node_values, patch = trained.settings.patch_size;
    PackedItems series = in_tokens(std::move(read), trained.settings);
    const ItemSchema& schema = trained.schema;
    if (schema.node_values != series.schema.node_values) {
      throw DataError(file, "series of " + std::to_string(schema.node_values / patch) + " values a step, as trained on",
                      "series of " + std::to_string(dimensions));
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
    predict(picture, all_of(picture), [&](int64_t, const ItemPrediction& outputs) {
      print(outputs, {file, {{"file", file}}});
    });
  }

  // Returns whether the model is of texts, byte by byte.
  bool takes_texts() const {
    const ItemSchema& schema = trained.schema;
    return schema.items == "sequences" && schema.node_vocabulary == std::vector<int64_t>{256} && !schema.documents;
  }

  UnlabelledGraphs unlabelled_text(const std::string& file) const {
    if (!takes_texts()) throw DataError(file, "what the model was trained on, no texts", "a text");
    return {in_tokens(read_unlabelled_text(file), trained.settings), {""}, {}};
  }

  // Throws DataError unless the model takes the molecules of SMILES.
  void require_smiles(const std::string& source) const {
    const ItemSchema& schema = trained.schema;
    if (schema.node_vocabulary == atom_vocabulary) return;
    throw DataError(source,
                    schema.node_labels.empty()
                        ? "graphs as the model was trained on, which are no molecules of SMILES"
                        : "graphs of a set in TU's form, as the model was trained on: the labels "
                          "of its nodes are not those of SMILES",
                    "SMILES");
  }

  // Throws DataError for a file that a model of molecules would read as a list of edges, because of its ending.
  void require_molecules(const std::string& file, const GraphReadOptions& reading) const {
    const bool molecules = trained.schema.node_vocabulary == atom_vocabulary;
    if (!molecules || !reading.smiles_column.empty() || is_csv(file) || !is_graph_file(file)) return;
    throw DataError(file,
                    "molecules, as the model was trained on: SMILES in a file *.smi, or in a table *.csv; "
                    "--smiles-column NAME reads any file as such a table",
                    graph_file_format(file).name);
  }

  static bool is_smiles_file(const std::string& file, const GraphReadOptions& reading) {
    if (!std::filesystem::is_regular_file(file)) return false;
    const GraphFileFormat* const format = find_graph_file_format(file);
    return is_molecule_table(file, reading) || (format != nullptr && format->kind == GraphFileFormat::smiles);
  }

  // Throws DataError for a SMILES in place of a file.
  void refuse_typed_smiles(const std::string& file) const {
    const bool molecules = trained.schema.node_vocabulary == atom_vocabulary && !molecule_library().empty();
    if (!molecules || path_exists(file) || !smiles_error(file).empty()) return;
    throw DataError(file, "a file", "nothing of this name (--smiles " + shell_word(file) + " predicts this molecule)");
  }

  void predict_file(const std::string& file) {
    if (words.edges) refuse_typed_smiles(file);
    if (!words.edges && is_picture_name(file)) return predict_picture(file);
    if (!words.edges && has_text_ending(file)) return predict_unlabelled(unlabelled_text(file), file);
    if (!words.edges && (!trained.schema.node_vocabulary.empty() || trained.schema.grid_height > 0)) {
      throw DataError(file, "a dataset by --data, for a model of " + trained.schema.items, "a file");
    }
    if (!words.edges) return predict_unlabelled(unlabelled_series(file), file);
    GraphReadOptions reading = trained.settings.reading();
    if (!options.smiles_column.empty()) reading.smiles_column = options.smiles_column;
    require_molecules(file, reading);
    if (is_smiles_file(file, reading)) {
      require_smiles(file);
      if (report_without_molecules(file, reading)) return;
    }
    predict_unlabelled(read_unlabelled_graphs(file, trained.schema, reading), file);
  }

  // Reports the rows of a file of SMILES none of which is valid, and returns whether it is one.
  bool report_without_molecules(const std::string& file, const GraphReadOptions& reading) {
    const SmilesFile input = read_smiles_file(file, reading.smiles_column);
    std::vector<std::string> errors;
    for (const std::string& smiles : input.column.smiles) {
      errors.push_back(smiles_error(smiles));
      if (errors.back().empty()) return false;
    }
    for (const std::string& warning : invalid_smiles_warnings(input.column, errors)) std::cerr << warning << '\n';
    for (size_t row = 0; row < errors.size(); ++row) {
      add_broken(title_of_row(input, row), "invalid SMILES: " + errors[row]);
    }
    return true;
  }

  void predict_dataset() {
    const PackedItems graphs = open_run_graphs(trained);
    const std::vector<int64_t> items = chosen(graphs);
    const std::string& data = trained.settings.data;
    predict(graphs, items, [&](int64_t item, const ItemPrediction& outputs) {
      const std::string name = name_of_item(graphs, item);
      ItemTitle title{std::to_string(item) + (name.empty() ? "" : " " + name), {{"file", data}, {words.item, item}}};
      if (!name.empty()) title.fields["name"] = name;
      if (!graphs.smiles.empty()) title.fields["smiles"] = graphs.smiles[static_cast<size_t>(item)];
      if (!graphs.lines.empty()) title.fields["line"] = graphs.lines[static_cast<size_t>(item)];
      print(outputs, title);
    });
  }
};

bool is_series_or_picture(const std::filesystem::path& file) {
  return has_series_ending(file) || is_picture_name(file.string());
}

// Returns whether a folder is a set in TU's form, or a broken one, of which reading it says more.
bool is_graph_folder(const std::filesystem::path& folder) {
  try {
    require_graph_indicator(folder);
    return is_tu_dataset(folder);
  } catch (const DataError&) {
    return true;
  }
}

}  // namespace

bool SequenceExperiment::is_input(const std::filesystem::path& file) {
  return is_series_or_picture(file) || has_text_ending(file);
}

void GraphPredictOptions::add_to(CLI::App& subcommand, const ItemWords& words) {
  const std::string name = words.item, names = words.items;
  add_run_to(subcommand);
  subcommand.add_option("--" + names, chosen, "numbers of " + names + " of the dataset, from 0, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(0, 1000000000));
  std::vector<std::string> splits = enum_names<GraphSplit>();
  splits.insert(splits.begin(), "all");
  take_short_split_names(
      subcommand.add_option("--split", split,
                            "without --" + names + ": which split of the dataset, as the run was trained"))
      ->check(CLI::IsMember(splits))
      ->capture_default_str();
  subcommand.add_option("--top", top, "classes to show a " + name)
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  add_json_to(subcommand, "print one JSON object a " + name);
  as_output_file(subcommand.add_option(
      "--csv", csv, "write the predictions to this file, a row for each " + name + (words.edges ? " or node" : "")));
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
                  : "series in place of the dataset: *.ts, *.arff or UCR's *.tsv, whose classes are ignored; texts: "
                    "*.txt; or pictures: *.jpg, *.jpeg, *.png; folders of them, or patterns such as 'a/*.ts'");
  replaces_dataset(given);
  subcommand.add_flag("--fail-fast", fail_fast, "stop at the first FILE that cannot be read")->needs(given);
  if (!words.edges) return;
  subcommand.add_option("--smiles-column", smiles_column, "column of SMILES of a FILE that is a table")->needs(given);
  auto* molecules = subcommand.add_option("--smiles", smiles, "a molecule in place of the dataset; may be repeated");
  molecules->allow_extra_args(false);  // the next argument is a FILE
  replaces_dataset(molecules);
}

int GraphPredictOptions::predict(GraphRun& trained, const char* program, const ItemWords& words) const {
  Predictor predictor{*this, trained, words};
  const InputKind of_graphs{graph_endings(), has_graph_ending, is_graph_folder}, of_texts{".txt", has_text_ending},
      of_series{".ts, .arff, .tsv, .jpg, .jpeg or .png", is_series_or_picture};
  const InputFiles inputs = input_files(files, words.edges               ? of_graphs
                                               : predictor.takes_texts() ? of_texts
                                                                         : of_series);
  if (takes_dataset()) predictor.predict_dataset();
  if (!smiles.empty()) {
    for (const std::string& file : inputs.files) {
      if (path_exists(file)) continue;
      throw UsageError("there is no file '" + file + "'; --smiles comes before each of several molecules");
    }
    predictor.require_smiles("--smiles");
    predictor.predict_unlabelled(unlabelled_molecules(smiles, trained.schema, "--smiles", trained.settings.reading()),
                                 "--smiles");
  }
  const auto write = [&] {
    if (csv.empty()) return;
    write_file_atomically(csv, prediction_csv(words.item, predictor.columns(), predictor.rows));
  };
  int code = 0;
  try {
    code = for_each_file(
        program, inputs.files.size(), fail_fast, [&](size_t i) { predictor.predict_file(inputs.files[i]); },
        [&](size_t i, const std::string& error) { predictor.add_error(inputs.files[i], error); });
  } catch (
      const DataError&) {  // of fail_fast; where nobody reads standard output any more, half a table is not written
    write();
    throw;
  }
  write();
  return predictor.broken ? 1 : code;
}

}  // namespace geosft
