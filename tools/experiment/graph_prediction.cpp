// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_prediction.h"

#include <limits>
#include <numeric>

#include "data/graphs/graph_vectors.h"
#include "tools/experiment/graph_evaluation.h"

namespace geosft {
namespace {

// Returns targets of the shape and type that the task has, all unknown.
at::Tensor no_targets(const ItemSchema& schema, const GraphBatch& graphs) {
  const bool of_nodes = is_of_nodes(schema.task);
  const int64_t rows = of_nodes ? graphs.graph.nodes() : graphs.items();
  if (has_classes(schema.task)) return at::full({rows}, of_nodes ? -1 : 0, at::kLong);
  return at::full({rows, schema.outputs()}, std::numeric_limits<float>::quiet_NaN());
}

at::Tensor predictions(GraphRun& trained, const PackedItems& encoded) {
  const GraphTask task = trained.schema.task;
  std::vector<int64_t> all(static_cast<size_t>(encoded.size()));
  std::iota(all.begin(), all.end(), 0);
  const at::Tensor outputs = run_outputs(trained, encoded, all, GraphSplit::test).outputs;
  return predicted_values(trained.model, task, outputs);
}

}  // namespace

PackedItems unlabelled_items(const GraphRun& trained, const FeaturedGraphs& graphs) {
  check_batch(graphs.graphs);
  PackedItems packed;
  static_cast<FeaturedGraphs&>(packed) = graphs;
  packed.schema = trained.schema;
  packed.target = no_targets(trained.schema, graphs.graphs);
  const GraphVectorOptions vector = trained.settings.molecules.vector();
  if (!packed.graph_features.defined() && vector.any() && !vector.of_molecules().any()) {
    packed.graph_features = graph_vectors(packed, vector);
  }
  check_packed_items(packed, "graphs");
  if (const at::Tensor& found = packed.graph_features; found.defined() && packed.schema.graph_features > 0) {
    const int64_t columns = packed.schema.graph_features + trained.settings.molecules.hidden_columns();
    TORCH_CHECK(found.size(1) == columns, "graph_features must have ", columns, " columns, got ", found.sizes());
  }
  const NodeEncodingOptions encoding = trained.settings.model.node_encoding();
  take_encoding(packed, encoded_nodes(packed.graphs, encoding), encoding);
  return packed;
}

at::Tensor predict_graphs(GraphRun& trained, const FeaturedGraphs& graphs) {
  return predictions(trained, unlabelled_items(trained, graphs));
}

at::Tensor predict_dataset(GraphRun& trained, const std::filesystem::path& dataset) {
  GraphSettings settings = trained.settings;
  settings.data = dataset.string();
  const PackedItems graphs = open_run_graphs(trained, settings);
  return predictions(trained, graphs);
}

}  // namespace geosft
