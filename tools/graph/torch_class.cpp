// SPDX-License-Identifier: Apache-2.0
// Serves a trained model of graphs or sequences from a RUN folder in Python: torch.classes.load_library(
// "libgeosft_graph_tool.so"), then
//   run = torch.classes.geosft.GraphPredictor("runs/mutag/fold_0")
//   run.output_names()        list of str: classes, labels or targets
//   run.task()                "classification", "multi_label", "regression", "node_classification" or
//                             "node_multi_label"
//   run.predict_data(path)    predictions for a whole dataset, float [graphs, outputs] or [nodes, outputs]
//   run.predict(ptr, edges, node_categories=None, node_values=None, edge_categories=None, edge_values=None,
//               coordinates=None, graph_features=None)
// returns predictions for packed graphs: ptr int64 [B + 1], offsets of their nodes; edges int64 [2, E], source and
// target rows, both directions of an undirected edge; features as in training, one row per node, edge or graph.
// Predictions are probabilities of classes and labels, or regression values in the units of the data. The methods
// release the GIL, and threads may share an object. It can be pickled and deep-copied: its state is the configuration
// and the weights, not the path of the RUN (an ensemble cannot be pickled).
#include "tools/experiment/graph_prediction.h"
#include "tools/experiment/python_class.h"

namespace geosft {
namespace {

using Given = std::optional<at::Tensor>;

at::Tensor on_cpu(const Given& given, at::ScalarType dtype) {
  return given.has_value() ? given->detach().to(at::kCPU, dtype).contiguous() : at::Tensor();
}

// Non-integer categories are rejected: a cast would truncate them.
at::Tensor categories(const Given& given, const char* name) {
  TORCH_CHECK(!given.has_value() || at::isIntegralType(given->scalar_type(), false), name,
              " must be whole numbers, got ", given.has_value() ? given->scalar_type() : at::kLong);
  return on_cpu(given, at::kLong);
}

at::Tensor values(const Given& given, const char* name) {
  TORCH_CHECK(!given.has_value() || !given->is_complex(), name, " must be real numbers");
  return on_cpu(given, at::kFloat);
}

void check_ends(const at::Tensor& edges, int64_t nodes) {
  if (edges.numel() == 0) return;
  const int64_t minimum = edges.min().item<int64_t>(), maximum = edges.max().item<int64_t>();
  TORCH_CHECK(minimum >= 0 && maximum < nodes, "edges must name nodes from 0 to ", nodes - 1, ", got ",
              minimum < 0 ? minimum : maximum);
}

// Builds graphs from an edge list, and returns the index in the list of every stored edge.
std::pair<GraphBatch, at::Tensor> graphs_of(const at::Tensor& ptr, const at::Tensor& edges) {
  TORCH_CHECK(ptr.scalar_type() == at::kLong && ptr.dim() == 1 && ptr.size(0) >= 2, "ptr must be int64 [B + 1], got ",
              ptr.scalar_type(), " ", ptr.sizes());
  TORCH_CHECK(edges.scalar_type() == at::kLong && edges.dim() == 2 && edges.size(0) == 2,
              "edges must be int64 [2, E], got ", edges.scalar_type(), " ", edges.sizes());
  const at::Tensor offsets = on_cpu(ptr, at::kLong), ends = on_cpu(edges, at::kLong);
  const int64_t nodes = offsets[-1].item<int64_t>();
  TORCH_CHECK(nodes >= 0, "ptr must end with the number of nodes, got ", nodes);
  check_ends(ends, nodes);
  CsrGraph graph = graph_from_edges(ends[0], ends[1], nodes, at::arange(ends.size(1)).unsqueeze(1));
  const at::Tensor place = graph.edge_attr.squeeze(1);
  graph.edge_attr = at::Tensor();
  return {{graph, offsets}, place};
}

at::Tensor rows_at(const at::Tensor& rows, const at::Tensor& place, const char* name) {
  if (!rows.defined()) return rows;
  TORCH_CHECK(rows.dim() == 2 && rows.size(0) == place.size(0), name, " must have a row for each of the ",
              place.size(0), " edges, got ", rows.sizes());
  return rows.index_select(0, place);
}

class GraphPredictor final : public ServedRun<GraphLearning> {
 public:
  using ServedRun::ServedRun;

  std::string task() const { return task_name(run_.schema.task); }
  at::Tensor predict_data(const std::string& data) { return predict_dataset(run_, data); }

  at::Tensor predict(const at::Tensor& ptr, const at::Tensor& edges, const Given& node_categories,
                     const Given& node_values, const Given& edge_categories, const Given& edge_values,
                     const Given& coordinates, const Given& graph_features) {
    FeaturedGraphs graphs;
    at::Tensor place;
    std::tie(graphs.graphs, place) = graphs_of(ptr, edges);
    graphs.node_categories = categories(node_categories, "node_categories");
    graphs.node_values = values(node_values, "node_values");
    graphs.edge_categories = rows_at(categories(edge_categories, "edge_categories"), place, "edge_categories");
    graphs.edge_values = rows_at(values(edge_values, "edge_values"), place, "edge_values");
    graphs.coordinates = values(coordinates, "coordinates");
    graphs.graph_features = values(graph_features, "graph_features");
    return predict_graphs(run_, graphs);
  }
};

const bool registered = register_python_class<GraphPredictor>("GraphPredictor", [](auto& served) {
  const auto none = [](const char* argument) { return torch::arg(argument) = c10::IValue(); };
  served.def("output_names", [](const c10::intrusive_ptr<GraphPredictor>& self) { return self->names(); })
      .def("task", &GraphPredictor::task)
      .def("predict_data", &GraphPredictor::predict_data)
      .def("predict", &GraphPredictor::predict, "",
           {torch::arg("ptr"), torch::arg("edges"), none("node_categories"), none("node_values"),
            none("edge_categories"), none("edge_values"), none("coordinates"), none("graph_features")});
});

}  // namespace
}  // namespace geosft
