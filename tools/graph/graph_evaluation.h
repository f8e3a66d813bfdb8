// SPDX-License-Identifier: Apache-2.0
// What a model says of many graphs.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <vector>

#include "tools/graph/graph_data.h"
#include "tools/graph/graph_metrics.h"

namespace geosft {

// The same graphs with what a model computes from on `device`; ptr stays on the CPU, see offsets_for.
FeaturedGraphs on_device(const FeaturedGraphs& graphs, at::Device device);

struct GraphOutputs {
  at::Tensor
      outputs;  // [n, outputs], a row a graph or a node, averaged over the votes: logits, or standardised targets
  at::Tensor targets;  // as in PackedItems; nodes outside the part have none
};

// Of some items of a dataset. With a `renumbering` the nodes of every graph are renumbered at random by that seed
// first; rows of nodes come back in the dataset's order. `progress` is told the graphs done.
GraphOutputs graph_outputs(GraphModel& model, const PackedItems& graphs, const std::vector<int64_t>& items, Part part,
                           const EvaluationSettings& settings, std::optional<uint64_t> renumbering = std::nullopt,
                           const std::function<void(int64_t)>& progress = {});

// Outputs in the dataset's units: those of a regression are no longer standardised.
at::Tensor in_units(const GraphModel& model, GraphTask task, const at::Tensor& outputs);

// Loss of outputs as the model gives them.
double evaluation_loss(const GraphModel& model, GraphTask task, const GraphOutputs& outputs);

// Targets as the model is trained on them.
at::Tensor standardized_targets(const GraphModel& model, GraphTask task, const at::Tensor& targets);

// The metrics of the task, then "loss".
NamedValues evaluation_metrics(const GraphModel& model, GraphTask task, const GraphOutputs& outputs);

}  // namespace geosft
