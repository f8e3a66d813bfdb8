// SPDX-License-Identifier: Apache-2.0
#include "tools/view/graph_gallery.h"

#include <ATen/core/grad_mode.h>

#include <sstream>

#include "data/graphs/molecule_depiction.h"
#include "data/graphs/molecule_features.h"
#include "graph/random_walk_pe.h"
#include "models/summary.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/graph_evaluation.h"
#include "tools/experiment/graph_prediction.h"
#include "tools/view/graph_layout.h"
#include "tools/view/molecule_colours.h"

namespace geosft::view {
namespace {

constexpr int64_t max_exact_nodes = 1000;  // of a force-directed layout between all pairs; an octree beyond

// Returns every undirected edge once, without self-loops, int64 [E, 2], and a row of the graph's edges for each, [E].
std::pair<at::Tensor, at::Tensor> single_edges(const CsrGraph& graph) {
  const at::Tensor ends = at::stack({edge_sources(graph), graph.col}, 1);
  const at::Tensor ordered = std::get<0>(ends.sort(1));
  const at::Tensor kept = (ordered.select(1, 0) != ordered.select(1, 1)).nonzero().squeeze(1);
  const auto [edges, place, counts] =
      at::unique_dim(ordered.index_select(0, kept), 0, /*sorted=*/true, /*return_inverse=*/true);
  return {edges, at::empty({edges.size(0)}, at::kLong).index_copy_(0, place, kept)};
}

// Returns a SMILES as it fits into a title.
std::string shortened(const std::string& smiles) {
  constexpr size_t longest = 60;
  return smiles.size() > longest ? smiles.substr(0, longest) + "…" : smiles;
}

std::string truth_of(const PackedItems& graphs, int64_t item) {
  const ItemSchema& schema = graphs.schema;
  if (schema.task == GraphTask::classification) {
    return schema.output_names[static_cast<size_t>(graphs.target[item].item<int64_t>())];
  }
  if (schema.task != GraphTask::regression) return "";
  std::ostringstream text;
  text << schema.output_names.front() << ' ' << graphs.target[item][0].item<double>();
  return text.str();
}

GraphLayout layout_for(const PackedItems& graphs, GraphLayout layout) {
  if (layout != GraphLayout::automatic) return layout;
  if (graphs.schema.coordinates) return GraphLayout::coordinates;
  const bool drawn = !graphs.smiles.empty() && !molecule_library().empty();
  return drawn ? GraphLayout::depiction : GraphLayout::force_directed;
}

}  // namespace

GraphLayout graph_layout_of(const std::string& name) {
  if (name == "automatic") return GraphLayout::automatic;
  if (name == "coordinates") return GraphLayout::coordinates;
  if (name == "depiction") return GraphLayout::depiction;
  if (name == "spectral") return GraphLayout::spectral;
  TORCH_CHECK(name == "spring", "layout must be automatic, coordinates, depiction, spectral or spring, not ", name);
  return GraphLayout::force_directed;
}

GraphGallery::GraphGallery(PackedItems graphs, std::string name, std::optional<GraphRun> trained,
                           const GraphGalleryOptions& options)
    : graphs_(std::move(graphs)),
      name_(std::move(name)),
      trained_(std::move(trained)),
      options_(options),
      layout_(layout_for(graphs_, options.layout)) {
  if (options.layout == GraphLayout::coordinates && !graphs_.schema.coordinates) {
    throw UsageError("--layout coordinates: " + name_ + " has none; take spring or spectral");
  }
  if (options.layout == GraphLayout::depiction && graphs_.smiles.empty()) {
    throw UsageError("--layout depiction: " + name_ + " has no molecules with SMILES; take spring or spectral");
  }
}

at::Tensor GraphGallery::places(const FeaturedGraphs& one, int64_t item) const {
  const CsrGraph& graph = one.graphs.graph;
  if (layout_ == GraphLayout::coordinates) return one.coordinates.to(at::kDouble);
  if (layout_ == GraphLayout::depiction) {
    return at::constant_pad_nd(molecule_depiction(graphs_.smiles[static_cast<size_t>(item)]), {0, 1});
  }
  if (layout_ == GraphLayout::spectral) return spectral_layout(graph);
  return graph.nodes() <= max_exact_nodes ? force_directed_layout(graph, options_.seed)
                                          : large_layout(graph, options_.seed);
}

void GraphGallery::explain(const FeaturedGraphs& one, int64_t item, Subject& subject) {
  at::NoGradGuard guard;
  const EvaluationSettings& evaluation = trained_->settings.evaluation;
  const FeaturedGraphs there = on_device(one, device_of(*trained_->model));
  ForwardTrace trace;  // of the first network and vote
  SamplingContext context = evaluation.context(0);
  context.trace_into(trace);
  trained_->model->forward(there, context, trained_->model->head_features(there));
  subject.trace = on_host(std::move(trace));
  // Predictions are those of the whole run: its votes, networks and regression.
  const at::Tensor outputs = run_outputs(*trained_, graphs_, {item}, GraphSplit::test).outputs.cpu();
  const at::Tensor in_unit = in_units(trained_->model, trained_->schema.task, outputs);
  if (!is_of_nodes(trained_->schema.task)) {
    subject.prediction = prediction_text(trained_->schema, in_unit[0], 1).substr(2);
  }
  if (options_.labelled && trained_->schema.task == GraphTask::classification) {
    subject.right = in_unit[0].argmax().item<int64_t>() == graphs_.target[item].item<int64_t>();
  }
}

Subject GraphGallery::get(int64_t item, bool beside) {
  if (beside) throw UsageError("--beside is for clouds");
  const FeaturedGraphs one = items_of(graphs_, {item});
  Subject subject;
  const auto number = static_cast<size_t>(item);
  subject.name = options_.names.empty() ? name_ + " " + std::to_string(item) : options_.names[number];
  if (options_.names.empty() && !graphs_.smiles.empty()) subject.name += ": " + shortened(graphs_.smiles[number]);
  if (options_.names.empty() && !graphs_.names.empty()) subject.name += ": " + graphs_.names[number];
  if (options_.labelled) subject.truth = truth_of(graphs_, item);
  subject.points = places(one, item);
  const auto [edges, rows] = single_edges(one.graphs.graph);
  subject.edges = edges;
  subject.elements = elements_of(graphs_.schema, one);
  const at::Tensor lines = bond_lines(graphs_.schema, one);
  if (lines.defined()) subject.edge_lines = lines.index_select(0, rows);
  subject.encoding = random_walk_pe(one.graphs.graph.rowptr, one.graphs.graph.col, options_.walk_steps).to(at::kDouble);
  if (trained_) explain(one, item, subject);
  return subject;
}

}  // namespace geosft::view
