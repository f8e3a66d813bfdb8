// SPDX-License-Identifier: Apache-2.0
// Evaluates a model on many graphs, and formats its predictions as text and JSON.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/graph_data.h"
#include "tools/experiment/graph_learning.h"
#include "tools/experiment/graph_metrics.h"

namespace geosft {

// Moves the model inputs of graphs to `device`; ptr stays on the CPU, see offsets_for.
FeaturedGraphs on_device(const FeaturedGraphs& graphs, at::Device device);

// Warns on stderr of molecules unlike the training data: elements that a model with atom references has not seen, and
// chiral atoms of a published set in OGB's order, where the training had canonical ones.
void warn_of_unlike_molecules(const GraphRun& trained, const FeaturedGraphs& graphs, const std::string& source);

// Opens the dataset of the settings, those of the run by default, with its encodings, and warns of unlike molecules.
// Throws DataError if its features or outputs are not those trained on.
PackedItems open_run_graphs(const GraphRun& trained, const GraphSettings& settings);
inline PackedItems open_run_graphs(const GraphRun& trained) {
  return open_run_graphs(trained, trained.settings);
}
// Does the same for data to evaluate: without a label there, throws DataError before molecules are described.
PackedItems open_labelled_graphs(const GraphRun& trained);

// Returns whether votes of a network may differ: its tokens are sampled at random. Otherwise one vote is all of them.
bool votes_differ(const GraphRun& trained);

// The mean of equally shaped tensors, and the sum of the squared deviations from it (Welford, 1962; Chan et al., 1979).
struct OutputSpread {
  int64_t count = 0;
  at::Tensor mean, squares;  // float64; undefined if count is 0

  void add(const at::Tensor& outputs);
  void join(const OutputSpread& other);
  // Returns the standard deviation (of count - 1), or an undefined tensor for fewer than two.
  at::Tensor deviation() const;
};

struct GraphOutputs {
  at::Tensor
      outputs;  // [n, outputs], one row per graph or node, averaged over the votes: logits, or standardised targets
  at::Tensor targets;  // as in PackedItems; missing for nodes outside the split
  // The spread of predicted probabilities, or of values in the dataset's units, over votes and networks of an ensemble;
  // for tasks of graphs.
  OutputSpread spread = {};
};

// Runs the model on some items of a dataset. `renumbering` is a seed for a random permutation of the nodes of every
// graph; node rows are returned in the dataset's order. `progress` receives the number of graphs done.
GraphOutputs graph_outputs(GraphModel& model, const PackedItems& graphs, const std::vector<int64_t>& items,
                           GraphSplit split, const EvaluationSettings& settings,
                           std::optional<uint64_t> renumbering = std::nullopt,
                           const std::function<void(int64_t)>& progress = {});

// Does the same for a run: the mean over the models of an ensemble, averaged with the kernel regression if the run has
// one. `progress` receives the graphs done by the first model.
GraphOutputs run_outputs(GraphRun& trained, const PackedItems& graphs, const std::vector<int64_t>& items,
                         GraphSplit split, std::optional<uint64_t> renumbering = std::nullopt,
                         const std::function<void(int64_t)>& progress = {});

// Converts outputs to the dataset's units: undoes the standardisation of regression targets.
at::Tensor in_units(const GraphModel& model, GraphTask task, const at::Tensor& outputs);

// Returns the loss of raw model outputs; NaN if no target is known.
double evaluation_loss(const GraphModel& model, GraphTask task, const GraphOutputs& outputs,
                       const LossOptions& options = {});

// Returns the targets used in training.
at::Tensor standardized_targets(const GraphModel& model, GraphTask task, const at::Tensor& targets);

// Returns what is predicted: probabilities of classes or labels, or values in the dataset's units.
at::Tensor predicted_values(const GraphModel& model, GraphTask task, const at::Tensor& outputs);

// Returns the metrics of the task, then "loss".
NamedValues evaluation_metrics(const GraphModel& model, GraphTask task, const GraphOutputs& outputs,
                               const LossOptions& options = {});

// Returns the prediction for one graph: outputs in the dataset's units, [outputs], or [n, outputs] for its nodes.
//   classification       {"class", "probability", "top": [[class, p], …]}, the `top` most probable
//   multi_label          {"probabilities": {label: p}}
//   regression           {"values": {target: value}}
//   node_classification  {"classes": [class of every node]}
//   node_multi_label     {"labels": [label, …], "probabilities": [[p of every label] of every node]}
nlohmann::json prediction_json(const ItemSchema& schema, const at::Tensor& outputs, int64_t top);

// Returns the same as a table: the names of the columns, and its rows, one per graph, or per node where nodes have
// predictions.
//   classification       class, probability, class_2, probability_2, …, the `top` most probable
//   multi_label          a probability per label
//   regression           a value per target
//   node_classification  node, class
//   node_multi_label     node, a probability per label
// `node_ids` are the numbers of the nodes, int64 [n]; undefined: 0 … n - 1.
std::vector<std::string> prediction_columns(const ItemSchema& schema, int64_t top);
std::vector<std::vector<std::string>> prediction_rows(const ItemSchema& schema, const at::Tensor& outputs, int64_t top,
                                                      const at::Tensor& node_ids = {});

// Further columns, for tasks of graphs: the standard deviation of each value or label, of the `top` classes in their
// order; the known target, a class or a value of each output. Those of one output are called deviation and target,
// others, and of an output of such a name, deviation_NAME and target_NAME.
std::vector<std::string> deviation_columns(const ItemSchema& schema, int64_t top);
std::vector<std::string> deviation_fields(const ItemSchema& schema, const at::Tensor& outputs,
                                          const at::Tensor& deviation, int64_t top);
std::vector<std::string> target_columns(const ItemSchema& schema);
std::vector<std::string> target_fields(const ItemSchema& schema, const at::Tensor& target);

// Returns one line of text: "mutagenic 92.1 %  other 7.9 %"; for node labels those of at least 50 %: "a+c  -  b".
std::string prediction_text(const ItemSchema& schema, const at::Tensor& outputs, int64_t top);

}  // namespace geosft
