// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_data.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <set>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/folds.h"
#include "data/formats/compression.h"
#include "data/formats/text_lines.h"
#include "data/graphs/encoding_cache.h"
#include "data/graphs/graph_dataset.h"
#include "data/graphs/graph_formats.h"
#include "data/graphs/molecule_inputs.h"
#include "data/graphs/molecule_table.h"
#include "data/graphs/tu_dataset.h"
#include "data/points/point_dataset.h"
#include "data/points/point_loader.h"
#include "data/seeds.h"
#include "data/sequences/picture_folders.h"
#include "data/sequences/sequence_dataset.h"
#include "geometry/packed.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/automatic_settings.h"
#include "tools/experiment/graph_metrics.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

// Returns the classes by which folds are stratified: those of graphs, or a constant.
at::Tensor strata(const PackedItems& graphs) {
  if (graphs.schema.task == GraphTask::classification) return graphs.target;
  return at::zeros({graphs.size()}, at::kLong);
}

DatasetSplit fold_split(const PackedItems& graphs, const SplitSettings& settings) {
  if (settings.folds > graphs.size()) {
    throw UsageError("folds must be at most the number of graphs, " + std::to_string(graphs.size()) + ", found " +
                     std::to_string(settings.folds));
  }
  const at::Tensor folds = stratified_folds(strata(graphs), settings.folds, settings.split_seed);
  DatasetSplit split;
  for (int64_t item = 0; item < graphs.size(); ++item) {
    (folds[item].item<int64_t>() == settings.fold ? split.test : split.train).push_back(item);
  }
  return split;
}

// Divides the graphs at random, 80/10/10.
DatasetSplit random_split(const PackedItems& graphs, uint64_t seed) {
  const uint64_t stream = combine_seeds({seed, text_hash("random split")});
  const std::vector<int64_t> order = epoch_order(graphs.size(), /*shuffle=*/true, stream, /*epoch=*/0);
  const auto train_end = order.begin() + graphs.size() * 8 / 10,
             validation_end = order.begin() + graphs.size() * 9 / 10;
  DatasetSplit split{{order.begin(), train_end}, {train_end, validation_end}, {validation_end, order.end()}};
  for (std::vector<int64_t>* items : {&split.train, &split.validation, &split.test})
    std::sort(items->begin(), items->end());
  return split;
}

DatasetSplit split_of_graphs(const PackedItems& graphs, const SplitSettings& settings) {
  switch (settings.split) {
    case SplitKind::automatic:
      if (graphs.split) return *graphs.split;
      if (!graphs.smiles.empty()) return scaffold_split(graphs.smiles, default_cache_folder());
      break;
    case SplitKind::file:
      if (!graphs.split)
        throw UsageError(
            "split file needs data with a published split; of a table, a column split of train, valid and "
            "test, or --split-folder");
      return *graphs.split;
    case SplitKind::scaffold:
      if (graphs.smiles.empty()) throw UsageError("split scaffold needs molecules with SMILES");
      return scaffold_split(graphs.smiles, default_cache_folder());
    case SplitKind::random:
      return random_split(graphs, settings.split_seed);
    case SplitKind::folds:
      break;
  }
  return fold_split(graphs, settings);
}

// Moves a fraction of the training split to the validation split.
void hold_out(DatasetSplit& split, const PackedItems& graphs, const SplitSettings& settings) {
  const at::Tensor all = strata(graphs);
  std::vector<int64_t> labels;
  labels.reserve(split.train.size());
  for (const int64_t item : split.train) labels.push_back(all[item].item<int64_t>());
  const auto [kept, held] = stratified_split(labels, settings.validation_fraction, settings.split_seed);
  if (kept.empty() || held.empty()) {
    throw UsageError("validation_fraction " + std::to_string(settings.validation_fraction) + " splits the " +
                     std::to_string(labels.size()) + " training graphs into " + std::to_string(kept.size()) + " and " +
                     std::to_string(held.size()));
  }
  const std::vector<int64_t> items = split.train;
  split.train.clear();
  for (const int64_t place : kept) split.train.push_back(items[static_cast<size_t>(place)]);
  for (const int64_t place : held) split.validation.push_back(items[static_cast<size_t>(place)]);
}

// For node splits: puts all graphs in each split in which a node has a target.
DatasetSplit node_splits(const PackedItems& graphs) {
  std::vector<int64_t> all(static_cast<size_t>(graphs.size()));
  std::iota(all.begin(), all.end(), 0);
  const auto items = [&](GraphSplit split) {
    const at::Tensor targets = targets_of_split(graphs.target, graphs.node_split, split);
    return known_targets(graphs.schema.task, targets).size(0) > 0 ? all : std::vector<int64_t>();
  };
  return {items(GraphSplit::train), items(GraphSplit::validation), items(GraphSplit::test)};
}

PackedItems in_patches(const PackedItems& graphs, int64_t patch) {
  const ItemSchema& schema = graphs.schema;
  if (schema.grid_height > 0) {
    if (schema.grid_height % patch != 0 || schema.grid_width % patch != 0) {
      throw UsageError("patch_size must divide the height and width of images: " + std::to_string(patch) + " and " +
                       std::to_string(schema.grid_height) + " x " + std::to_string(schema.grid_width));
    }
    return image_patches(graphs, patch);
  }
  if (schema.items != "sequences" || schema.node_values == 0) {
    throw UsageError("patch_size is for images and series of numbers, not for texts and graphs");
  }
  return series_patches(graphs, patch);
}

// Returns what a folder holds that is not a dataset, but that --data may name: ", but datasets: MUTAG, NCI1".
std::string datasets_in(const std::filesystem::path& folder) {
  constexpr size_t shown = 5;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    try {
      const bool dataset = entry.is_directory() ? is_graph_dataset(path.string()) || is_sequence_dataset(path.string())
                                                : is_molecule_table(path.string(), {});
      if (dataset) names.push_back(path.filename().string());
    } catch (const std::exception&) {  // a folder that cannot be read, or with more than one set
    }
  }
  if (names.empty()) return {};
  std::sort(names.begin(), names.end());
  std::string text = ", but datasets: ";
  for (size_t i = 0; i < std::min(shown, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > shown ? ", …" : "") + "; --data " + shell_word((folder / names[0]).string()) +
         " reads one";
}

bool is_packed_graphs(const std::string& file) {
  constexpr size_t enough = 8;
  return is_hdf5(gz_file_head(file, enough));
}

// Throws DataError for a source that neither the readers of graphs nor those of sequences know, listing their formats.
void check_known_format(const std::string& source) {
  if (!std::filesystem::exists(source)) return;  // reported when it is opened
  const bool folder = std::filesystem::is_directory(source);
  if (folder && (is_sequence_dataset(source) || is_graph_dataset(source))) return;
  if (!folder && find_graph_file_format(source) != nullptr) return;
  const std::string inside = folder ? datasets_in(source) : "";
  if (folder) require_graph_indicator(source);
  if (!inside.empty()) throw DataError(source, "a dataset of graphs or sequences", "none" + inside);
  throw DataError(source,
                  (folder ? "a folder with " + graph_formats_text() : "graphs: " + graph_file_formats_text()) +
                      "; or, of sequences, a folder with " + sequence_formats_text(),
                  "none of these");
}

// Returns which of several files of a folder, each of them a dataset, was read; empty if there are not several.
std::string taken_variant(const std::filesystem::path& folder) {
  const std::string series = series_name(folder) + "_TRAIN";
  const std::vector<std::vector<std::string>> variants = {
      {series + ".ts", series + ".tsv", series + ".arff"},
      {"peptide_multi_class_dataset.csv", "peptide_structure_dataset.csv", "peptide_structure_normalized_dataset.csv"}};
  for (const std::vector<std::string>& names : variants) {
    std::string taken, others;
    for (const std::string& name : names) {
      const bool table = name.ends_with(".csv");
      if (!std::filesystem::exists(table ? file_or_gz(folder / name) : folder / name)) continue;
      if (taken.empty()) {
        taken = name;
      } else {
        others += (others.empty() ? "" : ", ") + name;
      }
    }
    if (!others.empty()) return folder.string() + ": of several variants " + taken + " is taken, not " + others;
  }
  return {};
}

// Throws DataError for a text that is read as a list of edges because of its ending alone, and begins with words: a
// table of molecules, most often.
void require_edges(const std::string& source) {
  if (graph_file_format(source).kind != GraphFileFormat::edge_list) return;
  constexpr size_t enough = size_t{1} << 16;
  const std::string head = gz_file_head(source, enough);
  TextLines lines(head, source);
  while (lines.next_raw()) {
    const std::string_view line = lines.rest();
    if (line.empty() || line.front() == '#' || line.front() == '%') continue;
    if (std::isalpha(static_cast<unsigned char>(line.front())) == 0 && line.front() != '"') return;
    throw DataError(source + ":" + std::to_string(lines.line_number()),
                    "a list of edges, \"source target [weight]\" without a header (--smiles-column NAME reads a table "
                    "of molecules, which has at least one)",
                    "\"" + std::string(line.substr(0, 60)) + "\"");
  }
}

// Throws DataError for a list of SMILES, and for a table of molecules that its name does not tell.
void refuse_smiles_alone(const std::string& source) {
  if (!std::filesystem::is_regular_file(source)) return;
  const GraphFileFormat* const format = find_graph_file_format(source);
  if (format == nullptr || format->kind != GraphFileFormat::smiles) return;
  throw DataError(source, "graphs with labels: of molecules a table *.csv, or any whose column --smiles-column names",
                  "SMILES without a known label");
}

}  // namespace

void add_read_options(CLI::App& subcommand, GraphReadOptions& options) {
  subcommand.add_option("--split-name", options.split, "which of several published splits of an OGB set");
  subcommand.add_flag("--directed", options.directed,
                      "leave edges of OGB and TU sets and edge lists as they are listed");
  subcommand.add_flag("--coalesce,!--no-coalesce", options.coalesce,
                      std::string("leave out self-loops and repeated edges of TU sets, as PyG does (default: ") +
                          (options.coalesce ? "on)" : "off)"));
  subcommand.add_option("--smiles-column", options.smiles_column, "column of SMILES of a CSV table");
  subcommand
      .add_option("--label-columns", options.label_columns,
                  "labels: columns of a CSV table, keys of XYZ files or targets of QM9, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);  // as train takes them
}

namespace {

// Returns "; the dataset is its folder, DIR" for a file in the folder of a dataset; empty for another one.
std::string folder_hint(const std::string& file, bool (*is_dataset)(const std::filesystem::path&)) {
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (!is_dataset(folder)) return "";
  const std::string given = std::filesystem::path(file).parent_path().string();
  return "; the dataset is its folder, " + (given.empty() ? "." : given);
}

}  // namespace

void require_sequences(const std::string& source) {
  if (!std::filesystem::exists(source)) return;  // reported when it is opened
  const std::string expected = "sequences: a folder with " + sequence_formats_text();
  const std::string advice = "; the page of formats has the lines of Python that write NAME_TRAIN.ts and NAME_TEST.ts";
  if (!std::filesystem::is_directory(source)) {
    if (is_packed_graphs(source)) return;
    const std::string folder = folder_hint(source, is_sequence_dataset);
    throw DataError(source, expected, "a file" + (folder.empty() ? advice : folder));
  }
  if (is_sequence_dataset(source) || is_graph_dataset(source)) return;
  const std::string inside = datasets_in(source);
  if (!inside.empty()) throw DataError(source, expected, "none of these" + inside);
  throw DataError(source, expected, "none of these" + advice);
}

bool is_single_graph(const std::string& source, const GraphReadOptions& options) {
  return !is_molecule_table(source, options) && is_graph_file(source);
}

PackedItems open_graphs(const std::string& source, GraphReadOptions options, int64_t longest) {
  std::error_code absent;
  if (std::filesystem::is_regular_file(source, absent) && std::filesystem::file_size(source, absent) == 0) {
    throw DataError(source, "graphs with labels", "an empty file");
  }
  if (is_single_graph(source, options)) {
    require_edges(source);
    throw UsageError(source + ": a single graph without labels, which can be encoded, but not trained on" +
                     folder_hint(source, is_graph_dataset));
  }
  if (!is_molecule_table(source, options)) {
    check_known_format(source);
    refuse_smiles_alone(source);
  }
  std::unique_ptr<ProgressBar> bar;
  options.progress = [&](int64_t done, int64_t total) {
    if (!bar) bar = std::make_unique<ProgressBar>("reading graphs", total);
    bar->update(done);
  };
  PackedItems graphs =
      is_sequence_dataset(source) ? open_sequence_dataset(source, longest) : open_graph_dataset(source, options);
  if (bar) bar->finish();
  if (const std::string variant = taken_variant(source); !variant.empty()) std::cerr << variant << '\n';
  for (const std::string& warning : graphs.warnings) std::cerr << warning << '\n';
  return graphs;
}

OpenedStructure open_structure(const std::string& source, const GraphReadOptions& options) {
  if (!is_single_graph(source, options)) return {open_graphs(source, options).graphs, {}};
  require_edges(source);
  const FileGraph found = read_graph_file(source, options.directed);
  return {{found.graph, offsets_tensor({0, found.graph.nodes()})}, found.ids};
}

void take_encoding(PackedItems& graphs, const EncodedNodes& encoded, const NodeEncodingOptions& options) {
  graphs.node_encoding = encoded.values;
  if (!encoded.standard_error.defined() || encoded.standard_error.numel() == 0) return;
  std::cerr << "random walks are estimated from " << options.walks << " walks a node: standard error up to "
            << encoded.standard_error.max().item<double>() << '\n';
}

void take_graph_vectors(PackedItems& graphs, const MoleculeSettings& settings, const std::string& source) {
  const GraphVectorOptions options = settings.vector();
  if (!options.any()) return;
  const ItemSchema& schema = graphs.schema;
  if (schema.items != "graphs" || is_of_nodes(schema.task)) {
    throw UsageError("fingerprint, descriptors and statistics are of whole graphs, found " +
                     (schema.items != "graphs" ? schema.items : std::string("labels of nodes")) + " in " + source);
  }
  std::unique_ptr<ProgressBar> bar;
  try {
    graphs.graph_features = graph_vectors(graphs, options, default_cache_folder(), [&](int64_t done, int64_t total) {
      if (!bar) bar = std::make_unique<ProgressBar>("describing molecules", total);
      bar->update(done);
    });
  } catch (const std::invalid_argument& error) {
    throw UsageError(source + ": " + error.what());
  }
  if (bar) bar->finish();
  if (settings.head_features) {
    graphs.schema.graph_features = graphs.graph_features.size(1) - settings.hidden_columns();
  }
}

PackedItems in_tokens(PackedItems items, const GraphSettings& settings) {
  if (items.pictures) {
    if (settings.max_length > 0) throw UsageError("max_length is for sequences, not for pictures");
    if (settings.pictures.side % settings.patch_size != 0) {
      throw UsageError("patch_size must divide image_size: " + std::to_string(settings.patch_size) + " and " +
                       std::to_string(settings.pictures.side));
    }
    return with_views(items, settings.pictures, settings.patch_size);
  }
  if (settings.patch_size > 1) items = in_patches(items, settings.patch_size);
  if (settings.max_length > 0) items = truncated(items, settings.max_length);
  return items;
}

namespace {

// Throws DataError if no target is known, with the outputs of a trained model where they are few.
void require_labels(const PackedItems& graphs, const std::string& source) {
  constexpr size_t few = 5;
  const ItemSchema& schema = graphs.schema;
  if (known_targets(schema.task, graphs.target).size(0) > 0) return;
  const bool names = !has_classes(schema.task) && schema.output_names.size() <= few;
  throw DataError(source, schema.items + " with labels" + (names ? ", " + listed(schema.output_names, " or ") : ""),
                  "none");
}

PackedItems open_for(const GraphSettings& settings, const ItemSchema* known = nullptr, bool labelled = false) {
  if (settings.data.empty()) throw UsageError("--data DIR is required: the dataset");
  GraphReadOptions reading = settings.reading();
  if (known != nullptr) reading.known = *known;
  PackedItems graphs = open_graphs(settings.data, std::move(reading), settings.max_length);
  if (labelled) require_labels(graphs, settings.data);
  take_graph_vectors(graphs, settings.molecules, settings.data);
  return graphs;
}

PackedItems encoded(PackedItems graphs, const GraphSettings& settings) {
  graphs = in_tokens(std::move(graphs), settings);
  const NodeEncodingOptions encoding = settings.model.node_encoding();
  take_encoding(graphs, cached_encoding(default_cache_folder(), graphs.graphs, encoding), encoding);
  return graphs;
}

}  // namespace

PackedItems open_encoded_graphs(const GraphSettings& settings, const ItemSchema* known, bool labelled) {
  return encoded(open_for(settings, known, labelled), settings);
}

TrainingGraphs open_training_graphs(GraphSettings settings) {
  PackedItems graphs = open_for(settings);
  std::string derived = resolve_automatic(settings, graphs);
  if (!derived.empty()) {
    settings.check();
    const DataSizes sizes = data_sizes(graphs, settings.splits);
    derived = "automatic, for " + std::to_string(sizes.items) + " training " + graphs.schema.items +
              ", before any are held out, of at most " + std::to_string(sizes.longest) +
              (graphs.schema.items == "graphs" ? " nodes: " : " steps: ") + derived;
  }
  graphs = encoded(std::move(graphs), settings);
  return {std::move(settings), std::move(graphs), std::move(derived)};
}

DatasetSplit split_of(const PackedItems& graphs, const SplitSettings& settings) {
  const bool of_nodes = graphs.node_split.defined();
  DatasetSplit split = of_nodes ? node_splits(graphs) : split_of_graphs(graphs, settings);
  if (!split.validation.empty() || split.train.empty() || settings.validation_fraction == 0) return split;
  if (of_nodes) throw UsageError("validation_fraction holds graphs out, and here nodes are split");
  hold_out(split, graphs, settings);
  return split;
}

std::vector<std::string> empty_classes_warnings(const PackedItems& graphs, const DatasetSplit& splits) {
  const ItemSchema& schema = graphs.schema;
  std::vector<std::string> warnings;
  if (!has_classes(schema.task)) return warnings;
  const bool of_nodes = is_of_nodes(schema.task);
  for (const GraphSplit split : {GraphSplit::train, GraphSplit::test}) {
    const at::Tensor labels = targets_of_split(graphs.target, graphs.node_split, split);
    at::Tensor in_split = at::zeros({graphs.size()}, at::kBool);
    in_split.index_fill_(0, at::tensor(items_of_split(splits, split), at::kLong), true);
    if (of_nodes) in_split = at::repeat_interleave(in_split, at::diff(graphs.graphs.ptr));
    const at::Tensor counts = at::bincount(labels.masked_select(in_split & (labels >= 0)), {}, schema.outputs());
    std::vector<std::string> empty;
    for (int64_t label = 0; label < schema.outputs(); ++label) {
      if (counts[label].item<int64_t>() == 0) empty.push_back(schema.output_names[static_cast<size_t>(label)]);
    }
    if (empty.empty()) continue;
    const std::string item = of_nodes ? "node" : schema.items == "sequences" ? "sequence" : "graph";
    warnings.push_back(empty_classes_text(empty, schema.output_names.size(),
                                          "no " + item + " to " + std::string(name_of(split)) + " with"));
  }
  return warnings;
}

std::vector<std::string> one_sided_labels_warnings(const PackedItems& graphs, const DatasetSplit& splits) {
  std::vector<std::string> warnings;
  if (graphs.schema.task != GraphTask::multi_label) return warnings;
  constexpr size_t max_shown = 5;
  const std::vector<std::string>& names = graphs.schema.output_names;
  for (const GraphSplit split : {GraphSplit::validation, GraphSplit::test}) {
    const std::vector<int64_t>& items = items_of_split(splits, split);
    if (items.empty()) continue;
    const at::Tensor labels = graphs.target.index_select(0, at::tensor(items, at::kLong));
    const at::Tensor both = labels.eq(0).any(0).logical_and(labels.eq(1).any(0));
    std::vector<std::string> found;
    for (size_t column = 0; column < names.size(); ++column) {
      if (!both[static_cast<int64_t>(column)].item<bool>()) found.push_back(names[column]);
    }
    if (found.empty()) continue;
    const bool chooses_nothing = split == GraphSplit::validation && found.size() == names.size();
    const std::string count = std::to_string(found.size()) + " of " + std::to_string(names.size());
    const bool more = found.size() > max_shown;
    found.resize(std::min(found.size(), max_shown));
    warnings.push_back(count + " labels without both 0 and 1 in the " + std::string(name_of(split)) +
                       " split: " + listed(found) + (more ? ", …" : "") +
                       (chooses_nothing ? "; it cannot choose the checkpoint (--split random is another split)" : ""));
  }
  return warnings;
}

std::string counted_items(int64_t count, const std::string& items) {
  return std::to_string(count) + ' ' + (count == 1 ? items.substr(0, items.size() - 1) : items);
}

std::string few_items_warning(const PackedItems& graphs, const DatasetSplit& splits, GraphSplit split) {
  const auto count = static_cast<int64_t>(items_of_split(splits, split).size());
  if (graphs.node_split.defined() || count >= 5) return "";
  return "the " + std::string(name_of(split)) + " split has " + counted_items(count, graphs.schema.items) +
         ", too few for a figure";
}

std::string shared_molecules_warning(const PackedItems& graphs, const DatasetSplit& splits) {
  if (graphs.smiles.empty()) return "";
  std::set<std::string> trained_on;
  for (const int64_t item : splits.train) trained_on.insert(graphs.smiles.at(static_cast<size_t>(item)));
  const auto shared = std::count_if(splits.test.begin(), splits.test.end(), [&](int64_t item) {
    return trained_on.contains(graphs.smiles.at(static_cast<size_t>(item)));
  });
  if (shared == 0) return "";
  return std::to_string(shared) + " of the " + std::to_string(splits.test.size()) +
         " test molecules have a SMILES that is also trained on (--split scaffold, without cross-validation, keeps "
         "equal "
         "molecules together)";
}

std::string name_of_item(const PackedItems& items, int64_t item) {
  const auto at = static_cast<size_t>(item);
  if (items.pictures) return items.pictures->files.at(at);
  if (!items.smiles.empty()) return items.smiles.at(at);
  return items.names.empty() ? "" : items.names.at(at);
}

std::string label_of_item(const PackedItems& items, int64_t item) {
  if (is_of_nodes(items.schema.task)) return "";
  if (has_classes(items.schema.task)) {
    return items.schema.output_names.at(static_cast<size_t>(items.target.accessor<int64_t, 1>()[item]));
  }
  const auto target = items.target.accessor<float, 2>()[item];
  std::string text;
  bool known = false;
  for (int64_t i = 0; i < target.size(0); ++i) {
    if (i > 0) text += ';';
    if (std::isnan(target[i])) continue;
    text += shortest_text(target[i]);
    known = true;
  }
  return known ? text : "";
}

const std::vector<int64_t>& items_of_split(const DatasetSplit& splits, GraphSplit split) {
  return split == GraphSplit::train ? splits.train
                                    : (split == GraphSplit::validation ? splits.validation : splits.test);
}

at::Tensor targets_of_split(const at::Tensor& target, const at::Tensor& node_split, GraphSplit split) {
  if (!node_split.defined()) return target;
  const at::Tensor outside = node_split != static_cast<int64_t>(split);
  if (!target.is_floating_point()) return target.masked_fill(outside, -1);
  return target.masked_fill(outside.unsqueeze(1), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace geosft
