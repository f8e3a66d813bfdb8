// SPDX-License-Identifier: Apache-2.0
// Provides the attention bias of graph_attention from tensors: edges, sampled nodes and weights. One matrix product
// computes the contributions of the edges to X_R w for all heads; sorting finds the keys of each node.
#pragma once

#include "models/ops/cuda/attention_host.h"
#include "models/ops/cuda/attention_sizes.h"
#include "models/ops/cuda/graph_bias.cuh"

namespace geosft::cuda {

class GraphOperator {
 public:
  using Inputs = GraphInputs;
  using BiasTraits = GraphBiasTraits;

  GraphOperator(const Inputs& in, const AttentionArguments& arguments)
      : rowptr_(contiguous(in.rowptr())),
        col_(contiguous(in.col())),
        edge_attr_(opmath_contiguous(in.edge_attr())),
        weight_(contiguous(in.weight())),
        w_mul_(opmath_contiguous(in.w_mul())),
        b_mul_(contiguous(in.b_mul())),
        w_add_(opmath_contiguous(in.w_add())),
        b_add_(contiguous(in.b_add())),
        mul_(at::mm(edge_attr_, w_mul_)),
        add_(at::mm(edge_attr_, w_add_)) {
    const auto [nodes, order] = at::stack({in.top(), in.partner()}, 1).flatten().sort(/*stable=*/true, 0, false);
    node_keys_ = order;
    node_ptr_ = at::searchsorted(nodes, at::arange(arguments.q.size(0) + 1, rowptr_.options()));
  }

  template <typename T>
  GraphArrays<T> arrays() const {
    GraphArrays<T> arrays{};
    arrays.rowptr = pointer<int64_t>(rowptr_);
    arrays.col = pointer<int64_t>(col_);
    arrays.edges = col_.size(0);
    arrays.node_ptr = pointer<int64_t>(node_ptr_);
    arrays.node_keys = pointer<int64_t>(node_keys_);
    arrays.weight = stored<T>(weight_);
    arrays.mul = pointer<T>(mul_);
    arrays.add = pointer<T>(add_);
    arrays.b_mul = stored<T>(b_mul_);
    arrays.b_add = stored<T>(b_add_);
    return arrays;
  }

  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, const OutputMask& output_mask, GraphArrays<T>& arrays) {
    edges_wanted_ = output_mask.own(2);
    mul_grad_ = at::zeros_like(mul_);
    add_grad_ = at::zeros_like(add_);
    weight_grad_ = at::empty({weight_.size(0), problem.heads}, edge_attr_.options());
    bias_grad_ = at::zeros({gradient_slots<GraphBiasTraits>(problem), problem.heads, 2}, edge_attr_.options());
    arrays.mul_grad = target<T>(mul_grad_);
    arrays.add_grad = target<T>(add_grad_);
    arrays.weight_grad = target<T>(weight_grad_);
    arrays.bias_grad = target<T>(bias_grad_);
  }

  std::vector<at::Tensor> gradients() const {
    const at::Tensor biases = bias_grad_.sum(0), attributes = edge_attr_.t();
    return {
        edges_wanted_ ? at::mm(mul_grad_, w_mul_.t()) + at::mm(add_grad_, w_add_.t()) : at::empty({0}, mul_.options()),
        weight_grad_.sum(1),
        at::mm(attributes, mul_grad_),
        biases.select(1, 0).contiguous(),
        at::mm(attributes, add_grad_),
        biases.select(1, 1).contiguous()};
  }

 private:
  at::Tensor rowptr_, col_, edge_attr_, weight_, w_mul_, b_mul_, w_add_, b_add_;
  at::Tensor mul_, add_;             // [E, heads]
  at::Tensor node_keys_, node_ptr_;  // keys that contain each node, as in GraphArrays
  at::Tensor mul_grad_, add_grad_, weight_grad_, bias_grad_;
  bool edges_wanted_ = true;
};

}  // namespace geosft::cuda
