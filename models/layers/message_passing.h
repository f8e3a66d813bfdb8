// SPDX-License-Identifier: Apache-2.0
// Graph convolutions: each node sums messages of the targets of its edges. Alone they make a graph neural network,
// beside attention the local branch of a graph transformer (Rampasek et al., "Recipe for a general, powerful, scalable
// graph transformer", 2022).
#pragma once

#include <torch/nn/modules/linear.h>

#include "models/layers/normalization.h"
#include "models/ops/edge_index.h"

namespace geosft {

enum class LocalKind { none, gcn, gine, gated_gcn };

struct LocalOptions {
  LocalKind kind = LocalKind::none;
  int64_t edge_channels = 0;   // r: features of an edge; 0: none, only for gcn and gine
  bool updates_edges = false;  // gated_gcn: the layer has a successor that reads the edges
};

// The edges of one packed batch.
struct LocalGraph {
  EdgeIndex index;
  at::Tensor edge_attr;  // [E, r], or undefined
  // [E], or undefined: weights of the messages. gcn: 1 / sqrt(d_i d_j) with d the number of edges of a node and 1.
  // gine: given or not. gated_gcn does not read them.
  at::Tensor edge_weight;
  at::Tensor self_weight;  // gcn: [N, 1], 1 / d_i
  at::Tensor edges;        // gated_gcn: [E, width], which layers update
};

// Prepares the edges of a graph in CSR form, rowptr [N + 1] and col [E], for a kind of convolution. Weights have the
// type and device of `numbers`. edge_attr and edges are left to the caller.
LocalGraph local_graph(const at::Tensor& rowptr, const at::Tensor& col, LocalKind kind,
                       const at::TensorOptions& numbers);

// One convolution, without residual connection, activation and norm of the nodes; x_j are the targets of the edges e of
// node i, and a_e the features of the edge.
//   gcn        y_i = sum_e f(W x_j + E a_e) / sqrt(d_i d_j) + f(W x_i + r) / d_i + b; without edge features f is the
//              identity and r is 0 (Kipf and Welling, 2017), with them it is relu (Hu et al., Open Graph Benchmark,
//              2020)
//   gine       y_i = W2 gelu(W1 ((1 + eps) x_i + sum_e w_e relu(x_j + E a_e))); without edge features sum_e x_j
//              (Xu et al., 2019; Hu et al., 2020)
//   gated_gcn  y_i = A x_i + the mean of V x_j gated by sigmoid(Q x_i + K x_j + E e) (models/ops/gated_edge_sum.h),
//              then e <- e + gelu(norm(gate)) (Bresson and Laurent, 2017; Dwivedi et al., 2023)
// Weights are initialised from LibTorch's default CPU generator; call torch::manual_seed before for reproducible ones.
class MessagePassingImpl : public torch::nn::Module {
 public:
  // norm: of the edges of gated_gcn. Throws c10::Error for LocalKind::none, and gated_gcn without edge channels.
  MessagePassingImpl(int64_t width, const LocalOptions& options, NormKind norm);

  // x [N, width]: [N, width], of the type of the parameters. gated_gcn updates graph.edges.
  at::Tensor forward(const at::Tensor& x, LocalGraph& graph, SamplingContext& context);

  LocalOptions options;
  torch::nn::Linear node{nullptr};                                 // W, W1 or A
  torch::nn::Linear edge{nullptr};                                 // E; of gated_gcn, of the state of the edges
  torch::nn::Linear output{nullptr};                               // W2 of gine
  torch::nn::Linear query{nullptr}, key{nullptr}, value{nullptr};  // of gated_gcn
  at::Tensor root, bias, eps;                                      // r and b of gcn [width], eps of gine [1]

 private:
  at::Tensor gcn(const at::Tensor& x, const LocalGraph& graph);
  at::Tensor gine(const at::Tensor& x, const LocalGraph& graph);
  at::Tensor gated_gcn(const at::Tensor& x, LocalGraph& graph, SamplingContext& context);

  Normalization edge_norm_;
};
TORCH_MODULE(MessagePassing);

// An additional node per item, which all nodes of the item read before a layer and write after it (Gilmer et al., 2017;
// as in the Open Graph Benchmark's baselines): x_i <- x_i + v, then v <- v + gelu(norm(W (v + sum_i x_i))).
class VirtualNodeImpl : public torch::nn::Module {
 public:
  VirtualNodeImpl(int64_t width, NormKind norm);

  // Returns the state of each item before the first layer, [B, width].
  at::Tensor start(int64_t items) const;
  // x [N, width] and the state [B, width] of its items, with their edges (edges_of_items): x [N, width].
  at::Tensor read(const at::Tensor& x, const at::Tensor& state, const EdgeIndex& of_items) const;
  // Returns the state after a layer with the result x.
  at::Tensor write(const at::Tensor& x, const at::Tensor& state, const EdgeIndex& of_items, SamplingContext& context);

  at::Tensor embedding;  // [width]
  torch::nn::Linear linear{nullptr};

 private:
  Normalization norm_;
};
TORCH_MODULE(VirtualNode);

}  // namespace geosft
