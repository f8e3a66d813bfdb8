// SPDX-License-Identifier: Apache-2.0
// Prints, for info, a dataset of graphs or sequences, or a single graph.
#include <algorithm>
#include <iostream>

#include "data/graphs/graph_formats.h"
#include "data/graphs/molecule_features.h"
#include "data/graphs/molecule_table.h"
#include "data/sequences/picture_folders.h"
#include "data/sequences/sequence_dataset.h"
#include "tools/experiment/run_folder.h"
#include "tools/graph/graph_experiment.h"
#include "tools/graph/label_counts.h"

namespace geosft {
namespace {

constexpr size_t names_shown = 40;

void print(const nlohmann::json& json) {
  std::cout << json_line(json);
}

std::string sizes_text(const std::vector<int64_t>& vocabulary) {
  std::string text;
  for (const int64_t size : vocabulary) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return vocabulary.empty() ? "none" : "columns of " + text;
}

// Returns the number of items of each class.
at::Tensor class_counts(const PackedItems& graphs) {
  return at::bincount(graphs.target.masked_select(graphs.target >= 0), {}, graphs.schema.outputs());
}

void describe_targets(const PackedItems& graphs) {
  const ItemSchema& schema = graphs.schema;
  const bool classes = has_classes(schema.task);
  at::Tensor counts;
  if (classes) counts = class_counts(graphs);
  std::cout << "task: " << task_name(schema.task) << ", " << schema.outputs() << (classes ? " class" : " target")
            << (schema.outputs() == 1 ? ""
                : classes             ? "es"
                                      : "s");
  for (size_t i = 0; i < std::min(schema.output_names.size(), names_shown); ++i) {
    std::cout << (i == 0 ? ": " : ", ") << schema.output_names[i];
    if (classes) std::cout << " (" << counts[static_cast<int64_t>(i)].item<int64_t>() << ')';
  }
  std::cout << (schema.output_names.size() > names_shown ? ", …\n" : "\n");
}

std::string counts_text(const CsrGraph& graph) {
  return std::to_string(graph.nodes()) + " nodes, " + std::to_string(graph.edges()) + " directed edges";
}

std::string redundant_text(const CsrGraph& graph) {
  const RedundantEdges found = redundant_edges(graph);
  return std::to_string(found.self_loops) + " self-loops and " + std::to_string(found.repeated) + " repeated edges";
}

void describe_single_graph(const std::string& source, const GraphReadOptions& options, bool json) {
  const CsrGraph graph = open_structure(source, options).graphs.graph;
  const at::Tensor degree = graph.rowptr.diff();
  const auto minimum = degree.min().item<int64_t>(), maximum = degree.max().item<int64_t>();
  if (json) {
    const RedundantEdges found = redundant_edges(graph);
    return print({{"kind", "graph"},
                  {"file", source},
                  {"nodes", graph.nodes()},
                  {"edges", graph.edges()},
                  {"min_degree", minimum},
                  {"max_degree", maximum},
                  {"weights", graph.weight.defined()},
                  {"self_loops", found.self_loops},
                  {"repeated_edges", found.repeated}});
  }
  std::cout << source << ": one graph without labels, " << counts_text(graph) << "; " << minimum << " to " << maximum
            << " edges a node; weights: " << (graph.weight.defined() ? "yes" : "no") << "; " << redundant_text(graph)
            << '\n';
}

// Returns the number of nodes in each split, by name; graphs are in all splits where a node is.
std::vector<std::pair<std::string, int64_t>> node_split_counts(const at::Tensor& node_split) {
  const at::Tensor counts = at::bincount(node_split + 1, {}, 4);
  const auto count = [&](int64_t split) { return counts[split + 1].item<int64_t>(); };
  return {{"train", count(0)}, {"validation", count(1)}, {"test", count(2)}, {"none", count(-1)}};
}

void describe_node_split(const at::Tensor& node_split) {
  std::cout << "\npublished split of the nodes: ";
  for (const auto& [split, count] : node_split_counts(node_split)) {
    std::cout << (split == "train" ? "" : ", ") << count << (split == "none" ? " in " : " ") << split;
  }
}

void describe_edges(const PackedItems& graphs) {
  const ItemSchema& schema = graphs.schema;
  std::cout << "\nedge categories: " << sizes_text(schema.edge_vocabulary) << "; edge values: " << schema.edge_values
            << "; " << redundant_text(graphs.graphs.graph) << "\ncoordinates: " << (schema.coordinates ? "yes" : "no");
}

void describe_sequences(const ItemSchema& schema) {
  if (schema.documents) std::cout << "\npairs of documents: the last category says of which a step is";
  if (schema.grid_height > 0) std::cout << "\nimages of " << schema.grid_height << " x " << schema.grid_width;
}

// Describes a folder of pictures, of which it reads every one: the broken ones are named all at once. Throws DataError
// if there are such.
void describe_pictures(const std::string& source, const PackedItems& pictures, bool json) {
  const std::vector<std::string> broken = broken_pictures(*pictures.pictures);
  if (json) {
    const at::Tensor counts = class_counts(pictures);
    const int64_t* const first = counts.const_data_ptr<int64_t>();
    print({{"kind", "dataset"},
           {"file", source},
           {"items", pictures.schema.items},
           {"count", pictures.size()},
           {"task", task_name(pictures.schema.task)},
           {"outputs", pictures.schema.output_names},
           {"class_counts", std::vector<int64_t>(first, first + counts.numel())},
           {"split",
            {{"train", pictures.split->train.size()},
             {"validation", pictures.split->validation.size()},
             {"test", pictures.split->test.size()}}},
           {"broken", broken}});
  } else {
    std::cout << source << ": " << pictures.size() << " pictures\n";
    describe_targets(pictures);
    std::cout << "published split: " << pictures.split->train.size() << " train, " << pictures.split->validation.size()
              << " validation, " << pictures.split->test.size() << " test\n";
    if (broken.empty()) {
      std::cout << "every picture can be read\n";
    } else {
      std::cout << broken.size() << " cannot be read:\n";
    }
    for (const std::string& message : broken) std::cout << "  " << message << '\n';
  }
  if (!broken.empty()) {
    throw DataError(source, "pictures that can be read",
                    std::to_string(broken.size()) + " that cannot: mend or remove them");
  }
}

// Counts the labels of graphs, in the splits that a training has where it names none: published, or by scaffold.
void describe_labels(const PackedItems& graphs) {
  std::optional<DatasetSplit> split = graphs.split;
  const bool by_scaffold = !split && !graphs.smiles.empty() && !molecule_library().empty();
  constexpr int64_t many = 2000;  // molecules, whose scaffolds take seconds
  if (by_scaffold && graphs.size() > many) {
    std::cerr << "finding the scaffolds of " << graphs.size() << " molecules\n";
  }
  if (by_scaffold) split = split_of(graphs, SplitSettings());
  const std::vector<std::string> lines = label_lines(graphs, split, names_shown);
  if (lines.empty()) return;
  std::cout << "labels" << (by_scaffold ? ", as a training splits them by scaffold" : "") << ":\n";
  for (const std::string& line : lines) std::cout << "  " << line << '\n';
}

nlohmann::json dataset_json(const std::string& source, const PackedItems& graphs, bool sequences) {
  const ItemSchema& schema = graphs.schema;
  const std::string part = sequences ? "step" : "node";
  const at::Tensor sizes = graphs.graphs.ptr.diff();
  nlohmann::json json{{"kind", "dataset"},
                      {"file", source},
                      {"items", schema.items},
                      {"count", graphs.size()},
                      {part + "s", graphs.graphs.graph.nodes()},
                      {"min_" + part + "s", sizes.min().item<int64_t>()},
                      {"max_" + part + "s", sizes.max().item<int64_t>()},
                      {"task", task_name(schema.task)},
                      {"outputs", schema.output_names},
                      {part + "_vocabulary", schema.node_vocabulary},
                      {part + "_values", schema.node_values}};
  if (has_classes(schema.task)) {
    const at::Tensor counts = class_counts(graphs);
    json["class_counts"] =
        std::vector<int64_t>(counts.const_data_ptr<int64_t>(), counts.const_data_ptr<int64_t>() + counts.numel());
  }
  if (sequences) {
    json["documents"] = schema.documents;
    if (schema.grid_height > 0) json["grid"] = {schema.grid_height, schema.grid_width};
  } else {
    const RedundantEdges found = redundant_edges(graphs.graphs.graph);
    json["edges"] = graphs.graphs.graph.edges();
    json["edge_vocabulary"] = schema.edge_vocabulary;
    json["edge_values"] = schema.edge_values;
    json["coordinates"] = schema.coordinates;
    json["self_loops"] = found.self_loops;
    json["repeated_edges"] = found.repeated;
  }
  if (graphs.split) {
    json["split"] = {{"train", graphs.split->train.size()},
                     {"validation", graphs.split->validation.size()},
                     {"test", graphs.split->test.size()}};
  }
  if (graphs.node_split.defined()) {
    for (const auto& [name, count] : node_split_counts(graphs.node_split)) json["node_split"][name] = count;
  }
  return json;
}

}  // namespace

std::filesystem::path GraphExperiment::sweep_table(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path table = folder / "table.md";
  if (!std::filesystem::exists(table, error) || !std::filesystem::exists(folder / "table.csv", error)) return {};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (RunFolder::holds_run(entry.path())) return table;
  }
  return {};
}

void GraphExperiment::print_data(const std::filesystem::path& data, const Reading& reading, bool json) {
  const std::string source = data.string();
  if (const std::filesystem::path table = sweep_table(data); !table.empty()) {
    if (json) return print({{"kind", "sweep"}, {"file", source}, {"table", table.string()}});
    std::cout << source << ": a sweep, whose results are in " << table.string() << '\n';
    return;
  }
  const GraphReadOptions& options = reading.options;
  if (is_single_graph(source, options)) return describe_single_graph(source, options, json);
  const PackedItems graphs = open_graphs(source, options);
  if (graphs.pictures) return describe_pictures(source, graphs, json);
  const bool sequences = is_sequence_dataset(source);
  if (json) return print(dataset_json(source, graphs, sequences));
  const std::string part = sequences ? "step" : "node";
  const at::Tensor sizes = graphs.graphs.ptr.diff();
  std::cout << source << ": " << counted_items(graphs.size(), graphs.schema.items) << ", "
            << (sequences ? std::to_string(graphs.graphs.graph.nodes()) + " steps" : counts_text(graphs.graphs.graph))
            << "; " << sizes.min().item<int64_t>() << " to " << sizes.max().item<int64_t>() << " " << part
            << "s each\n";
  describe_targets(graphs);
  std::cout << part << " categories: " << sizes_text(graphs.schema.node_vocabulary) << "; " << part
            << " values: " << graphs.schema.node_values;
  if (sequences) {
    describe_sequences(graphs.schema);
  } else {
    describe_edges(graphs);
  }
  if (graphs.split) {
    std::cout << "\npublished split: " << graphs.split->train.size() << " train, " << graphs.split->validation.size()
              << " validation, " << graphs.split->test.size() << " test";
  }
  if (graphs.node_split.defined()) describe_node_split(graphs.node_split);
  std::cout << '\n';
  describe_labels(graphs);
}

}  // namespace geosft
