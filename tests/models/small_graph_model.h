// SPDX-License-Identifier: Apache-2.0
// A graph model that takes no time, and its answers.
#pragma once

#include "models/graph_model.h"
#include "tests/graph/featured.h"
#include "tests/support.h"

namespace geosft::test::small_graphs {

inline GraphModelOptions small_options() {
  GraphModelOptions options;
  options.node_vocabulary = {3, 5};
  options.node_values = 2;
  options.edge_vocabulary = {4};
  options.edge_values = 2;
  options.encoding = 4;
  options.outputs = 3;
  options.layer.attention.width = 16;
  options.layer.attention.heads = 4;
  options.layer.attention.sampler.num_samples = 4;
  options.layers = 2;
  options.head_sampler.num_samples = 5;
  return options;
}

inline GraphModel model_of(const GraphModelOptions& options, at::ScalarType dtype = at::kDouble) {
  at::manual_seed(3);
  GraphModel model(options);
  model->to(dtype);
  model->eval();
  return model;
}

inline at::Tensor greedy(GraphModel& model, const FeaturedGraphs& graphs) {
  SamplingContext context = SamplingContext::greedy();
  return model->forward(graphs, context).detach();
}

inline at::Tensor seeded(GraphModel& model, const FeaturedGraphs& graphs) {
  SamplingContext context = SamplingContext::seeded();
  return model->forward(graphs, context).detach();
}

inline constexpr GraphHead heads[] = {GraphHead::softmax_pool, GraphHead::sample_max, GraphHead::sum,
                                      GraphHead::mean,         GraphHead::max,        GraphHead::nodes};

inline GraphModelOptions molecule_options() {
  GraphModelOptions options = small_options();
  options.distance_channels = 5;
  options.distance_range = 3.0;
  options.head = GraphHead::sum;
  return options;
}

// Graphs whose nodes' second category is the document that they are of, and the options of a model that compares the
// two.
inline FeaturedGraphs document_graphs() {
  FeaturedGraphs graphs = featured_graphs({7, 4, 9}, 3);
  graphs.node_categories.select(1, 1).copy_(at::tensor({0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
  return graphs;
}

inline GraphModelOptions document_options() {
  GraphModelOptions options = small_options();
  options.node_vocabulary = {3};
  options.documents = true;
  options.positions = NodePositions::added;
  options.relative = false;
  options.head = GraphHead::pairs;
  choose_attention(options.layer, "softmax");
  return options;
}

// The same with the offsets of the documents beside them, as a loader hands them over.
inline FeaturedGraphs with_document_offsets(FeaturedGraphs graphs) {
  graphs.document_ptr = document_offsets(graphs.graphs.ptr, graphs.node_categories.select(1, 1));
  return graphs;
}

}  // namespace geosft::test::small_graphs
