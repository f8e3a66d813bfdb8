// SPDX-License-Identifier: Apache-2.0
// Benchmarks graph_attention against a composite that looks up a dense adjacency tensor.
#include <ATen/CPUGeneratorImpl.h>

#include "models/ops/graph_attention.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"
#include "tools/bench/scaling.h"

namespace geosft::bench {
namespace {

constexpr int64_t degree = 8, edge_channels = 2;

// Random graphs with `degree` edges per node, without parallel edges, and weights that require gradients.
struct Graphs {
  at::Tensor rowptr, col, edge_attr;
  at::Tensor top, partner, weight;  // per key, packed rows
  BiasWeights bias_weights;
};

// Returns random columns, distinct within each row.
at::Tensor random_columns(const Sizes& sizes, int64_t edges_a_node, const at::Generator& generator) {
  const auto longs = at::TensorOptions().dtype(at::kLong);
  const int64_t nodes = sizes.batch * sizes.tokens;
  const at::Tensor node = at::arange(nodes, longs).unsqueeze(1);
  const at::Tensor base = node.div(sizes.tokens, "floor") * sizes.tokens;
  const at::Tensor shift = at::randint(sizes.tokens, {nodes, 1}, generator, longs);
  const at::Tensor column = (shift + at::arange(edges_a_node, longs)).remainder(sizes.tokens);
  return (base + column).flatten();
}

// Returns two different tokens per key.
std::pair<at::Tensor, at::Tensor> random_members(const Sizes& sizes, int64_t keys, const at::Generator& generator) {
  const auto longs = at::TensorOptions().dtype(at::kLong);
  const at::Tensor base = (at::arange(sizes.batch, longs) * sizes.tokens).unsqueeze(1);
  const at::Tensor top = at::randint(sizes.tokens, {sizes.batch, keys}, generator, longs);
  return {(top + base).flatten(), ((top + 1).remainder(sizes.tokens) + base).flatten()};
}

Graphs random_graphs(const Sizes& sizes, int64_t keys) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed + 3);
  const int64_t nodes = sizes.batch * sizes.tokens, edges_a_node = std::min(degree, sizes.tokens);
  const auto leaf = [&](at::IntArrayRef shape) { return normal(shape, generator).requires_grad_(true); };
  const auto [top, partner] = random_members(sizes, keys, generator);
  Graphs graphs{equal_offsets(nodes, edges_a_node),
                random_columns(sizes, edges_a_node, generator),
                leaf({nodes * edges_a_node, edge_channels}),
                top,
                partner,
                {},
                {}};
  graphs.weight = at::rand({sizes.batch * keys}, generator, at::TensorOptions().dtype(at::kFloat)).requires_grad_(true);
  graphs.bias_weights = {leaf({edge_channels, sizes.heads}), leaf({sizes.heads}), leaf({edge_channels, sizes.heads}),
                         leaf({sizes.heads})};
  return graphs;
}

// Materializes X_R [B, r, n, n] for all pairs of nodes, then takes its columns `top` and `partner`.
DenseBias dense_bias(const Graphs& graphs, const Sizes& sizes) {
  const int64_t nodes = sizes.batch * sizes.tokens;
  const at::Tensor row = at::arange(nodes, graphs.col.options()).repeat_interleave(graphs.rowptr.diff());
  const at::Tensor channels = at::arange(edge_channels, graphs.col.options()).unsqueeze(1);
  const at::Tensor dense = at::zeros({sizes.batch, edge_channels, sizes.tokens, sizes.tokens},
                                     graphs.edge_attr.options().requires_grad(false))
                               .index_put({row.div(sizes.tokens, "floor"), channels, row.remainder(sizes.tokens),
                                           graphs.col.remainder(sizes.tokens)},
                                          graphs.edge_attr.t());
  const auto bias_of = [&](const at::Tensor& member) {
    const at::Tensor column = member.view({sizes.batch, 1, 1, -1}).remainder(sizes.tokens);
    const at::Tensor x = dense.gather(3, column.expand({-1, edge_channels, sizes.tokens, -1}));
    return linear_bias(x, graphs.bias_weights);
  };
  const DenseBias top = bias_of(graphs.top), partner = bias_of(graphs.partner);
  const at::Tensor weight = graphs.weight.view({sizes.batch, 1, 1, -1});
  return {at::lerp(partner.mul, top.mul, weight), at::lerp(partner.add, top.add, weight)};
}

struct GraphPass {
  PackedInputs in;
  Graphs g;

  Tensors leaves(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak) const {
    const BiasWeights& w = g.bias_weights;
    return {q, k, v, leak, g.edge_attr, g.weight, w.w_mul, w.b_mul, w.w_add, w.b_add};
  }
  at::Tensor forward() const {
    const BiasWeights& w = g.bias_weights;
    return graph_attention(in.q, in.k, in.v, in.leak, g.rowptr, g.col, g.edge_attr, g.top, g.partner, g.weight, w.w_mul,
                           w.b_mul, w.w_add, w.b_add, in.q_ptr, in.k_ptr, attention_eps);
  }
  Implementation implementation(Pass pass, std::optional<Work> work) const {
    return {"geosft",
            measured_pass(pass, leaves(in.q, in.k, in.v, in.leak), in.grad_output, [*this] { return forward(); }),
            work};
  }
};

Work graph_work(const Sizes& sizes, int64_t keys, Pass pass) {
  const AttentionShape shape = attention_shape(sizes, keys);
  return pass == Pass::both ? maxout_both_work(shape) : maxout_forward_work(shape);
}

Benchmark make_graph(const Sizes& sizes, int64_t keys, Pass pass, const std::string& name) {
  const GraphPass ours{random_inputs(sizes, keys), random_graphs(sizes, keys)};
  const HeadsFirstInputs first = heads_first(ours.in, sizes);
  const auto composite = [first, g = ours.g, sizes] { return cdist_attention(first, dense_bias(g, sizes)); };
  const Work work = graph_work(sizes, keys, pass);
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      ours.implementation(pass, work),
      {"cdist", measured_pass(pass, ours.leaves(first.q, first.k, first.v, first.leak), first.grad_output, composite),
       work, packed_rows}};
  benchmark.keys = static_cast<double>(keys);
  return benchmark;
}

}  // namespace

ScaledImplementation graph_attention_over_keys(int64_t keys) {
  return [keys](const Sizes& sizes) {
    const GraphPass ours{random_inputs(sizes, keys), random_graphs(sizes, keys)};
    return ours.implementation(Pass::both, graph_work(sizes, keys, Pass::both));
  };
}

Entries graph_entries(const Sizes& sizes) {
  return entries_by_keys(sizes, "graph_attention",
                         "with two channels on 8 edges a node; the composite looks up a dense n x n tensor",
                         make_graph);
}

}  // namespace geosft::bench
