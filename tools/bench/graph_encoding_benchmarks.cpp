// SPDX-License-Identifier: Apache-2.0
// Benchmarks node encodings against their definitions with dense matrices.
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "graph/csr_graph.h"
#include "graph/laplacian_pe.h"
#include "graph/random_walk_pe.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/scaling.h"

namespace geosft::bench {
namespace {

constexpr int64_t walk_steps = 20, eigenvectors = 8;

// Creates rings with a random chord from every node, in both directions: four edges per node.
CsrGraph rings_with_chords(const Sizes& sizes) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const auto longs = at::TensorOptions().dtype(at::kLong);
  const int64_t nodes = sizes.batch * sizes.tokens;
  const at::Tensor node = at::arange(nodes, longs), base = node.div(sizes.tokens, "floor") * sizes.tokens;
  const at::Tensor next = base + (node + 1 - base).remainder(sizes.tokens);
  const at::Tensor chord = base + at::randint(sizes.tokens, {nodes}, generator, longs);
  return symmetrized(graph_from_edges(at::cat({node, node}), at::cat({next, chord}), nodes));
}

// Links node i with i +- 1 and i +- sqrt(n), modulo n: four edges per node, and a neighbourhood size independent of n.
// (In a random graph, all n nodes are within reach until n exceeds 3^(steps / 2).)
CsrGraph grid_around_the_end(int64_t nodes) {
  const at::Tensor node = at::arange(nodes, at::kLong);
  const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(nodes)));
  const at::Tensor next = (node + 1).remainder(nodes), below = (node + root).remainder(nodes);
  return symmetrized(graph_from_edges(at::cat({node, node}), at::cat({next, below}), nodes));
}

// Returns the adjacency matrices [B, n, n].
at::Tensor dense_adjacency(const CsrGraph& graph, const Sizes& sizes, at::ScalarType type) {
  const at::Tensor row = edge_sources(graph);
  return at::zeros({sizes.batch, sizes.tokens, sizes.tokens}, type)
      .index_put({row.div(sizes.tokens, "floor"), row.remainder(sizes.tokens), graph.col.remainder(sizes.tokens)},
                 at::ones(graph.edges(), type), /*accumulate=*/true);
}

// Returns diag(RW^t) for t = 1 … steps, [B n, steps], from powers up to steps / 2: (RW^(a+b))_ii = sum_j (RW^a)_ij
// (RW^b)_ji.
at::Tensor dense_walks(const at::Tensor& adjacency, int64_t steps) {
  const at::Tensor walk = adjacency / adjacency.sum(2, true).clamp_min(1);
  std::vector<at::Tensor> powers{walk}, columns;
  while (static_cast<int64_t>(powers.size()) < (steps + 1) / 2) powers.push_back(at::bmm(powers.back(), walk));
  for (int64_t t = 1; t <= steps; ++t) {
    const at::Tensor &first = powers[(t + 1) / 2 - 1], second = t > 1 ? powers[t / 2 - 1] : at::Tensor();
    columns.push_back(second.defined() ? (first * second.transpose(1, 2)).sum(2) : first.diagonal(0, 1, 2));
  }
  return at::stack(columns, 2).flatten(0, 1);
}

// Returns the eigenvectors [B n, k] and the smallest non-trivial eigenvalues [B, k], ascending, of connected items.
Tensors dense_laplacian(const at::Tensor& adjacency, int64_t k) {
  const at::Tensor root = adjacency.sum(2).rsqrt();
  const at::Tensor identity = at::eye(adjacency.size(1), adjacency.options());
  const auto [values, vectors] = at::linalg_eigh(identity - root.unsqueeze(2) * adjacency * root.unsqueeze(1));
  return {vectors.slice(2, 1, k + 1).flatten(0, 1), values.slice(1, 1, k + 1)};
}

Benchmark make_walks(const Sizes& sizes, const std::string& name) {
  const CsrGraph graph = rings_with_chords(sizes);
  const at::Tensor adjacency = dense_adjacency(graph, sizes, at::kFloat);
  Benchmark benchmark{name, {}, static_cast<double>(graph.nodes()), "nodes"};
  benchmark.implementations = {{"geosft", [=] { return Tensors{random_walk_pe(graph.rowptr, graph.col, walk_steps)}; }},
                               {"dense powers", [=] { return Tensors{dense_walks(adjacency, walk_steps)}; },
                                std::nullopt, [](const at::Tensor& encoding) { return encoding; }}};
  return benchmark;
}

Benchmark make_laplacian(const Sizes& sizes, const std::string& name) {
  const CsrGraph graph = rings_with_chords(sizes);
  const at::Tensor ptr = equal_offsets(sizes.batch, sizes.tokens);
  const at::Tensor adjacency = dense_adjacency(graph, sizes, at::kDouble);
  const int64_t k = std::min(eigenvectors, sizes.tokens - 1);
  const auto ours = [=] {
    const LaplacianEncoding encoding = laplacian_pe(graph.rowptr, graph.col, k, ptr);
    return Tensors{encoding.vectors, encoding.values};
  };
  Benchmark benchmark{name, {}, static_cast<double>(graph.nodes()), "nodes"};
  benchmark.implementations = {{"geosft", ours}, {"linalg_eigh", [=] { return dense_laplacian(adjacency, k); }}};
  return benchmark;
}

}  // namespace

ScaledImplementation walks_on_grid() {
  return [](const Sizes& sizes) -> Implementation {
    const CsrGraph graph = grid_around_the_end(sizes.batch * sizes.tokens);
    return {"geosft", [=] { return Tensors{random_walk_pe(graph.rowptr, graph.col, walk_steps)}; }};
  };
}

Entries graph_encoding_entries(const Sizes& sizes) {
  return {{"random_walk_pe", "20 steps on rings with a chord from every node, beside powers of dense matrices",
           [=] { return make_walks(sizes, "random_walk_pe"); }},
          {"laplacian_pe", "8 eigenvectors of the same graphs, beside all of dense matrices",
           [=] { return make_laplacian(sizes, "laplacian_pe"); }}};
}

}  // namespace geosft::bench
