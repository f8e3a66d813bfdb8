// SPDX-License-Identifier: Apache-2.0
// A graph model that takes no time, and its outputs.
#pragma once

#include "models/graph_model.h"
#include "tests/graph/featured.h"
#include "tests/models/small_layer.h"
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
  options.layer = small_layer(4);
  options.layers = 2;
  options.head_sampler.num_samples = 5;
  return options;
}

inline GraphModel model_of(const GraphModelOptions& options, at::ScalarType dtype = at::kDouble) {
  manual_seed(3);
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

// The gradients of these members of the graphs, in float64, against finite differences.
inline void require_model_gradcheck(const GraphModelOptions& options, const FeaturedGraphs& graphs,
                                    const std::vector<at::Tensor FeaturedGraphs::*>& members, double tolerance = 1e-6) {
  GraphModel model = model_of(options);
  std::vector<at::Tensor> values;
  for (const auto member : members) values.push_back(graphs.*member);
  require_gradcheck(
      [&](const std::vector<at::Tensor>& inputs) {
        FeaturedGraphs changed = graphs;
        for (size_t i = 0; i < members.size(); ++i) changed.*members[i] = inputs[i];
        SamplingContext context = SamplingContext::greedy();
        return model->forward(changed, context).sum();
      },
      values, 1e-6, tolerance);
}

// The output for these graphs is finite, and so are the gradients of a training step; a parameter may have none.
inline void require_finite_step(const GraphModelOptions& options, const FeaturedGraphs& graphs) {
  GraphModel model = model_of(options);
  CHECK(greedy(model, graphs).isfinite().all().item<bool>());
  model->train();
  SamplingContext context = SamplingContext::training(generator(1));
  model->forward(graphs, context).square().sum().backward();
  for (const auto& parameter : model->named_parameters()) {
    INFO(parameter.key());
    const at::Tensor grad = parameter.value().grad();
    CHECK((!grad.defined() || grad.isfinite().all().item<bool>()));
  }
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
