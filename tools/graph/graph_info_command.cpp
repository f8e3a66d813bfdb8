// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>

#include "data/graphs/graph_formats.h"
#include "data/sequences/sequence_dataset.h"
#include "models/summary.h"
#include "tools/experiment/info_command.h"
#include "tools/graph/commands.h"
#include "tools/graph/graph_data.h"
#include "tools/graph/graph_run_model.h"

namespace geosft {
namespace {

constexpr size_t names_shown = 40;

void describe_run(const std::filesystem::path& run) {
  GraphRunModel trained = load_graph_run(run);
  std::cout << trained.settings.config().to_toml() << "\ntrained on " << schema_text(trained.schema) << "\n\n"
            << summary(*trained.model);
}

std::string sizes_text(const std::vector<int64_t>& vocabulary) {
  std::string text;
  for (const int64_t size : vocabulary) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return vocabulary.empty() ? "none" : "columns of " + text;
}

void describe_targets(const PackedItems& graphs) {
  const ItemSchema& schema = graphs.schema;
  const bool classes = has_classes(schema.task);
  at::Tensor counts;
  if (classes) counts = at::bincount(graphs.target.masked_select(graphs.target >= 0), {}, schema.outputs());
  std::cout << "task: " << task_name(schema.task) << ", " << schema.outputs() << (classes ? " classes" : " targets");
  for (size_t i = 0; i < std::min(schema.output_names.size(), names_shown); ++i) {
    std::cout << (i == 0 ? ": " : ", ") << schema.output_names[i];
    if (classes) std::cout << " (" << counts[static_cast<int64_t>(i)].item<int64_t>() << ')';
  }
  std::cout << (schema.output_names.size() > names_shown ? ", …\n" : "\n");
}

std::string counts_text(const CsrGraph& graph) {
  return std::to_string(graph.nodes()) + " nodes, " + std::to_string(graph.edges()) + " directed edges";
}

void describe_single_graph(const std::string& source, const GraphReadOptions& options) {
  const CsrGraph graph = open_structure(source, options).graphs.graph;
  const at::Tensor degree = graph.rowptr.diff();
  std::cout << source << ": one graph without labels, " << counts_text(graph) << "; " << degree.min().item<int64_t>()
            << " to " << degree.max().item<int64_t>()
            << " edges a node; weights: " << (graph.weight.defined() ? "yes" : "no") << '\n';
}

// Describes node splits, where each graph is in all splits.
void describe_node_split(const at::Tensor& node_split) {
  const at::Tensor counts = at::bincount(node_split + 1, {}, 4);
  const auto count = [&](int64_t part) { return std::to_string(counts[part + 1].item<int64_t>()); };
  std::cout << "\npublished split of the nodes: " << count(0) << " train, " << count(1) << " validation, " << count(2)
            << " test, " << count(-1) << " in none";
}

void describe_edges(const ItemSchema& schema) {
  std::cout << "\nedge categories: " << sizes_text(schema.edge_vocabulary) << "; edge values: " << schema.edge_values
            << "\ncoordinates: " << (schema.coordinates ? "yes" : "no");
}

void describe_sequences(const ItemSchema& schema) {
  if (schema.documents) std::cout << "\npairs of documents: the last category says of which a step is";
  if (schema.grid_height > 0) std::cout << "\nimages of " << schema.grid_height << " x " << schema.grid_width;
}

void describe_data(const std::string& source, const GraphReadOptions& options) {
  if (is_graph_file(source)) return describe_single_graph(source, options);
  const PackedItems graphs = open_graphs(source, options);
  const bool sequences = is_sequence_dataset(source);
  const std::string part = sequences ? "step" : "node";
  const at::Tensor sizes = graphs.graphs.ptr.diff();
  std::cout << source << ": " << graphs.size() << " " << graphs.schema.items << ", "
            << (sequences ? std::to_string(graphs.graphs.graph.nodes()) + " steps" : counts_text(graphs.graphs.graph))
            << "; " << sizes.min().item<int64_t>() << " to " << sizes.max().item<int64_t>() << " " << part
            << "s each\n";
  describe_targets(graphs);
  std::cout << part << " categories: " << sizes_text(graphs.schema.node_vocabulary) << "; " << part
            << " values: " << graphs.schema.node_values;
  if (sequences) {
    describe_sequences(graphs.schema);
  } else {
    describe_edges(graphs.schema);
  }
  if (graphs.split) {
    std::cout << "\npublished split: " << graphs.split->train.size() << " train, " << graphs.split->validation.size()
              << " validation, " << graphs.split->test.size() << " test";
  }
  if (graphs.node_split.defined()) describe_node_split(graphs.node_split);
  std::cout << '\n';
}

}  // namespace

Command add_graph_info_command(CLI::App& subcommand, const ItemWords& words) {
  auto reading = std::make_shared<GraphReadOptions>();
  const auto describe = [reading](const std::filesystem::path& what) {
    if (std::filesystem::exists(what / "config.toml") || what.extension() == ".ckpt") {
      describe_run(what);
    } else {
      describe_data(what.string(), *reading);
    }
  };
  return info_command(subcommand,
                      words.graphs ? "RUN folder, checkpoint (*.ckpt), a graph dataset, or one graph as encode takes it"
                                   : "RUN folder, checkpoint (*.ckpt), or a dataset of sequences",
                      describe, [&](CLI::App& app) {
                        if (words.graphs) add_read_options(app, *reading);
                      });
}

}  // namespace geosft
