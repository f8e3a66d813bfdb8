// SPDX-License-Identifier: Apache-2.0
// Classification and regression of graphs and of their nodes (SFT sections 5 and 6).
#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <vector>

#include "graph/featured_graphs.h"
#include "models/layers/encoder.h"
#include "models/layers/heads.h"
#include "models/layers/sign_net.h"

namespace geosft {

enum class GraphHead {
  softmax_pool,  // per graph: softmax-weighted aggregation of its nodes
  sample_max,    // per graph: maximum over a sample of its nodes
  sum,           // per graph: sum over its nodes, for additive targets
  mean,          // per graph: mean over its nodes
  max,           // per graph: maximum over its nodes
  nodes,         // a prediction per node
  class_token,   // per graph: from a learned token before its nodes, which attends with them
  pairs,         // per pair of documents: whether they belong together
};

// How the positions of ordered nodes, such as the steps of a sequence, are encoded.
enum class NodePositions {
  none,
  added,     // sinusoidal position encodings are added to the tokens
  relative,  // X_R of attention are products of sinusoids (SFT section 5), instead of edges
  learned,   // a learned vector per place is added to the tokens, for items of the same number of nodes
};

struct GraphModelOptions {
  std::vector<int64_t> node_vocabulary = {};  // sizes of the columns of node_categories
  int64_t node_values = 0;                    // columns of node_values
  std::vector<int64_t> edge_vocabulary = {};  // sizes of the columns of edge_categories
  int64_t edge_values = 0;                    // columns of edge_values
  int64_t encoding = 0;                       // columns of node_encoding
  // Channels that batch normalisation and a network of encoding_layers linear maps, with GELU between, make of
  // node_encoding: the last channels of the tokens. 0: a linear map of the standardised encoding is added to the
  // tokens.
  int64_t encoding_channels = 0;
  int64_t encoding_layers = 1;
  // Makes the network of encoding_channels a SignNet, without normalisation, for an encoding whose columns have
  // arbitrary signs. Then no signs are sampled.
  bool sign_invariant = false;
  int64_t max_degree = 0;  // the degree of a node, clamped to it, has an embedding that is added to its token; 0: none
  bool signed_encoding = false;  // the sign of its columns is arbitrary: training samples it anew in each step
  NodePositions positions = NodePositions::none;
  int64_t places = 0;             // number of nodes of every item, for learned positions
  int64_t position_channels = 0;  // of the sinusoids in X_R; 0: the width, as in the paper
  // An item is a pair of documents, which do not attend to each other: an additional last column of node_categories is
  // the index of a node's document, 0 then 1. Required by, and only valid with, the head `pairs`.
  bool documents = false;
  bool relative = true;  // X_R are the edges (SFT section 4.3); otherwise attention has no relative encoding
  int64_t distance_channels =
      0;                        // with `relative`: X_R holds the distance of the nodes' coordinates too; 0: it does not
  double distance_range = 5.0;  // that these channels cover, in the unit of the coordinates
  bool angles = false;          // with distance_channels: X_R holds the angles of angle_features too
  // Above 0: local branches pass messages between all nodes whose coordinates are at most this far apart, instead of
  // along the edges. A message is weighted by (1 + cos(pi d / cutoff)) / 2 of the distance d; the features of such an
  // edge are distance_features in radial_channels.
  double edge_cutoff = 0.0;
  int64_t radial_channels = 32;
  // Adds to the prediction of a graph a constant for each of its nodes, which depends on the first category of the node
  // alone, such as the element of an atom: the linear fit of the targets on the counts of the categories (standardize).
  bool atom_references = false;
  int64_t outputs = 2;
  LayerOptions layer = {};  // its relative kind and channels, and those of local edges, are set from the above
  int64_t layers = 4;
  EncoderOptions encoder = {};
  GraphHead head = GraphHead::softmax_pool;
  SamplerOptions head_sampler = {.num_samples = 64};
  int64_t head_layers = 1;     // of the MLP that predicts from the pooled features, or from each node
  int64_t graph_features = 0;  // columns of features of each graph, concatenated to its pooled features
  int64_t graph_counts = 0;    // the last of these columns, which are not standardised: counts that are mostly 0
  double head_dropout = 0.0;   // of the input of every layer of the head, except sum and nodes with one layer
};

// Statistics for standardisation: columns minus their mean, divided by their standard deviation. A constant column has
// the deviation 1, or its own where that is larger.
struct ColumnStatistics {
  at::Tensor mean, deviation;  // float32 [columns]
};
// Returns the statistics over the rows of values [n, columns], ignoring NaN. A column is constant if its deviation is
// at most 2e-7 of its mean, which is rounding of float32, or at most `min_deviation`, float64 [] or [columns].
ColumnStatistics column_statistics(const at::Tensor& values, const at::Tensor& min_deviation = {});

// Tokens are the sum of an embedding of each category and a linear map of the numeric features, including the encoding.
// X_R has one channel for each category of an edge, one for each of its numeric features, and one that is 1 on every
// edge: each layer and head has its own weights for every channel, which embed the categories.
//
// With distance_channels, X_R has additional channels of the distance between a node and a sampled one
// (distance_features), and with angles of those of the edges of both to the line between them and to each other
// (angle_features): predictions are invariant to rotation and translation of a graph. That takes n x k memory.
// Coordinates may have another floating type than the weights: models of 16 bits compute these channels in float32.
//
// A local branch of the layers passes messages along the edges, with the same channels as features of an edge, except
// that gcn and gine have none where edges have no features.
//
// Numeric features are standardised with buffers of the model, which are part of its checkpoint: mean 0 and deviation 1
// until they are set from the training set.
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible
// ones.
class GraphModelImpl : public torch::nn::Module {
 public:
  explicit GraphModelImpl(const GraphModelOptions& options);
  // A copy with parameters and buffers of its own, on `device` or where this one is.
  std::shared_ptr<torch::nn::Module> clone(const std::optional<torch::Device>& device = std::nullopt) const override;

  // Logits or standardised targets: [B, outputs], or [N, outputs] for nodes. The features must match the options; items
  // may have any number of nodes, including none. graph_features [B, F], NaN where a feature is not defined (the mean
  // is taken): undefined if options.graph_features is 0. Standardised, they are clamped to 5 deviations. On the CPU,
  // other features that are NaN or infinite throw a NonFiniteError that names them (models/ops/non_finite_error.h).
  at::Tensor forward(const FeaturedGraphs& graphs, SamplingContext& context, const at::Tensor& graph_features = {});

  // Returns the features of the graphs that the head sees, the first options.graph_features columns of those that the
  // graphs have; undefined if it sees none.
  at::Tensor head_features(const FeaturedGraphs& graphs) const;

  // Sets the buffers from a training set: numeric features of its nodes (values and encoding) and edges, for
  // regression its targets [n, outputs] (undefined: unchanged), and features [B, F] of its graphs. With
  // atom_references the targets are standardised after the references have been subtracted.
  void standardize(const FeaturedGraphs& graphs, const at::Tensor& targets, const at::Tensor& graph_features = {});

  // Returns the offsets of the tokens that attend to each other: those of the nodes, and with a class token one more
  // per item. ptr int64 [B + 1].
  at::Tensor token_ptr(const at::Tensor& ptr) const;

  GraphModelOptions options;
  at::Tensor class_token;  // [1, width], with the head class_token
  at::Tensor positions;    // [places, width], learned, with the class token's in the first row if there is one
  torch::nn::Embedding embedding{nullptr};  // one table for all columns; empty without categories
  torch::nn::Linear numbers{nullptr};       // input: values and encoding, or a constant without either
  torch::nn::Embedding degrees{nullptr};    // with max_degree
  PackedBatchNorm encoding_norm{nullptr};   // with encoding_channels
  Mlp encoding_network{nullptr};            // the same
  SignNet sign_net{nullptr};                // instead of the two, with sign_invariant
  torch::nn::Linear edge_state{nullptr};    // the initial state of the edges of gated_gcn
  Encoder encoder{nullptr};
  SoftmaxPoolHead pool_head{nullptr};  // only the head of options.head is set
  SampleMaxHead sample_head{nullptr};
  SumHead sum_head{nullptr};
  PairHead pair_head{nullptr};
  TokenHead token_head{nullptr};
  PooledHead pooled_head{nullptr};         // of graphs with head_layers or graph_features, and of mean and max
  Mlp node_head{nullptr};                  // of nodes with head_layers
  at::Tensor graph_mean, graph_deviation;  // undefined without graph_features
  at::Tensor node_mean, node_deviation, edge_mean, edge_deviation, target_mean, target_deviation;
  at::Tensor target_reference;  // [size of the first node vocabulary, outputs], with atom_references

 private:
  void make_head();
  at::Tensor predictions(const at::Tensor& x, const at::Tensor& ptr, SamplingContext& context,
                         const at::Tensor& graph_features);
  int64_t standardized_encoding() const { return options.encoding_channels > 0 ? 0 : options.encoding; }
  at::Tensor node_numbers(const FeaturedGraphs& graphs) const;
  at::Tensor edge_features(const FeaturedGraphs& graphs) const;
  LocalGraph local(const FeaturedGraphs& graphs);
  LocalGraph radial(const FeaturedGraphs& graphs) const;
  at::Tensor fit_references(const FeaturedGraphs& graphs, const at::Tensor& targets);
  at::Tensor tokens(const FeaturedGraphs& graphs, const at::Tensor& ptr, SamplingContext& context);
  void check(const FeaturedGraphs& graphs) const;
  RelativeEncoding relative(const FeaturedGraphs& graphs, const at::Tensor& ptr) const;
  at::Tensor document_ptr(const FeaturedGraphs& graphs) const;
  at::Tensor places(const at::Tensor& ptr, int64_t channels) const;
  void make_class_token();
  at::Tensor with_class_token(const at::Tensor& x, const at::Tensor& ptr) const;
};
TORCH_MODULE(GraphModel);

}  // namespace geosft
