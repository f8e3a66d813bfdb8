// SPDX-License-Identifier: Apache-2.0
// Classification and regression of graphs and of their nodes (SFT sections 5 and 6).
#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <vector>

#include "graph/featured_graphs.h"
#include "models/layers/encoder.h"
#include "models/layers/heads.h"

namespace geosft {

enum class GraphHead {
  softmax_pool,  // of a graph: softmax-weighted aggregation of its nodes
  sample_max,    // of a graph: the maximum over a sample of its nodes
  sum,           // of a graph: the sum over its nodes, for what adds up
  nodes,         // an answer a node
  pairs,         // of two documents: whether they belong together
};

// How nodes that stand in an order, as the steps of a sequence do, are told apart.
enum class NodePositions {
  none,
  added,     // sinusoids of their place are added to the tokens
  relative,  // attention sees products of them as X_R (SFT section 5), instead of edges
};

struct GraphModelOptions {
  std::vector<int64_t> node_vocabulary = {};  // sizes of the columns of node_categories
  int64_t node_values = 0;                    // columns of node_values
  std::vector<int64_t> edge_vocabulary = {};  // sizes of the columns of edge_categories
  int64_t edge_values = 0;                    // columns of edge_values
  int64_t encoding = 0;                       // columns of node_encoding
  bool signed_encoding = false;  // its columns are known up to their sign, which training draws anew each time
  NodePositions positions = NodePositions::none;
  int64_t position_channels = 16;  // of the sinusoids that X_R is made of
  // An item is two documents, attended to one by one: one more column of node_categories, the last, says of which a
  // node is, 0 then 1. The head must be `pairs`, which takes nothing else.
  bool documents = false;
  bool relative = true;  // attention sees the edges (SFT section 4.3); else only what the tokens hold
  int64_t distance_channels =
      0;                        // with `relative`: X_R holds the distance of the nodes' coordinates too; 0: it does not
  double distance_range = 5.0;  // that these channels cover, in the unit of the coordinates
  int64_t outputs = 2;
  LayerOptions layer = {};  // its relative kind and channels are set from the above
  int64_t layers = 4;
  GraphHead head = GraphHead::softmax_pool;
  SamplerOptions head_sampler = {.bins = 64};
  double head_dropout = 0.0;  // of the pooled features, for sample_max
};

// Columns of numbers as the model sees them: less their mean, divided by their deviation; columns that hardly vary are
// only centred.
struct ColumnStatistics {
  at::Tensor mean, deviation;  // float32 [columns]
};
// Over the rows of values [n, columns], leaving out NaN.
ColumnStatistics column_statistics(const at::Tensor& values);

// Tokens are the sum of an embedding of every category and a linear map of the numbers, encoding included. X_R has one
// channel for every category of an edge, one for each of its numbers, and one that is 1 on every edge: as each layer
// and head has its own weights for every channel, categories are embedded there.
//
// With distance_channels, X_R has further channels of the distance between a node and a sampled one
// (distance_features): the answer does not change when a graph is rotated or moved. That takes n x k memory.
//
// All numbers come standardised with the buffers of the model, which are part of its checkpoint: 0 and 1 until they are
// set from the training set.
class GraphModelImpl : public torch::nn::Module {
 public:
  explicit GraphModelImpl(const GraphModelOptions& options);

  // logits or standardised targets: [B, outputs], or [N, outputs] for nodes. Features must be there exactly as the
  // options say; items may have any number of nodes, also none.
  at::Tensor forward(const FeaturedGraphs& graphs, SamplingContext& context);

  // Sets the buffers from a training set: numbers of its nodes (values and encoding together), of its edges, and its
  // targets [n, outputs] where they are regressed (undefined: they stay as they are).
  void standardize(const FeaturedGraphs& graphs, const at::Tensor& targets);

  GraphModelOptions options;
  torch::nn::Embedding embedding{nullptr};  // one table for all columns; empty without categories
  torch::nn::Linear numbers{nullptr};       // of values and encoding; without either of a constant
  Encoder encoder{nullptr};
  SoftmaxPoolHead pool_head{nullptr};  // the one of options.head is there
  SampleMaxHead sample_head{nullptr};
  SumHead sum_head{nullptr};
  PairHead pair_head{nullptr};
  TokenHead token_head{nullptr};
  at::Tensor node_mean, node_deviation, edge_mean, edge_deviation, target_mean, target_deviation;

 private:
  at::Tensor node_numbers(const FeaturedGraphs& graphs) const;
  at::Tensor tokens(const FeaturedGraphs& graphs, const at::Tensor& ptr, SamplingContext& context);
  void check(const FeaturedGraphs& graphs) const;
  Relative relative(const FeaturedGraphs& graphs, const at::Tensor& ptr) const;
  at::Tensor document_ptr(const FeaturedGraphs& graphs) const;
  at::Tensor places(const at::Tensor& ptr, int64_t channels) const;
};
TORCH_MODULE(GraphModel);

}  // namespace geosft
