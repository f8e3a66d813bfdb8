// SPDX-License-Identifier: Apache-2.0
#include "models/layers/message_passing.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "models/ops/gated_edge_sum.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_message_passing {
namespace {

constexpr int64_t width = 6, nodes = 5;

// Rows 0 … 4; node 3 has no edges, edge 0 -> 1 is there twice, node 4 has a loop.
const std::vector<std::pair<int64_t, int64_t>> edges{{0, 1}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 4}};

LocalGraph graph_of(LocalKind kind, int64_t channels) {
  LocalGraph graph = local_graph(at::tensor({0, 3, 4, 5, 5, 6}, at::kLong), at::tensor({1, 1, 2, 0, 0, 4}, at::kLong),
                                 kind, at::kDouble);
  if (channels > 0) graph.edge_attr = normal({6, channels}, 7);
  if (kind == LocalKind::gated_gcn) graph.edges = normal({6, width}, 8);
  return graph;
}

MessagePassing layer_of(const LocalOptions& options) {
  manual_seed(2);
  MessagePassing layer(width, options, NormKind::batch);
  layer->to(at::kDouble);
  return layer;
}

at::Tensor message(const at::Tensor& rows, int64_t column, const at::Tensor& edge, int64_t e) {
  return edge.defined() ? at::relu(rows[column] + edge[e]) : rows[column];
}

double degree(int64_t node) {
  double count = 1;
  for (const auto& [from, to] : edges) count += from == node ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a gcn normalises by the degrees of both ends", "[message_passing]") {
  // Measured over 1,000 seeds, at most: 4.2e-16 where 1e-12 is allowed.
  const at::Tensor x = normal({nodes, width}, 1);
  for (const int64_t channels : {0, 3}) {
    MessagePassing layer = layer_of({LocalKind::gcn, channels});
    LocalGraph graph = graph_of(LocalKind::gcn, channels);
    const at::Tensor rows = layer->node->forward(x);
    const at::Tensor edge = channels > 0 ? layer->edge->forward(graph.edge_attr) : at::Tensor();
    at::Tensor expected = at::zeros({nodes, width}, at::kDouble);
    for (int64_t i = 0; i < nodes; ++i) {
      expected[i] += (channels > 0 ? at::relu(rows[i] + layer->root) : rows[i]) / degree(i) + layer->bias;
    }
    for (size_t e = 0; e < edges.size(); ++e) {
      const auto [i, j] = edges[e];
      expected[i] += message(rows, j, edge, static_cast<int64_t>(e)) / std::sqrt(degree(i) * degree(j));
    }
    SamplingContext context = SamplingContext::greedy();
    require_close(layer->forward(x, graph, context), expected, 1e-12, "gcn");
    REQUIRE(layer->node->bias.defined() == false);
  }
}

TEST_CASE("a gine sums what its neighbours say", "[message_passing]") {
  // Measured over 1,000 seeds, at most: 7.1e-16 where 1e-12 is allowed.
  const at::Tensor x = normal({nodes, width}, 1);
  for (const int64_t channels : {0, 3}) {
    MessagePassing layer = layer_of({LocalKind::gine, channels});
    layer->eps.data().fill_(0.25);
    LocalGraph graph = graph_of(LocalKind::gine, channels);
    const at::Tensor edge = channels > 0 ? layer->edge->forward(graph.edge_attr) : at::Tensor();
    at::Tensor sums = x * 1.25;
    for (size_t e = 0; e < edges.size(); ++e) {
      sums = sums.clone();
      sums[edges[e].first] += message(x, edges[e].second, edge, static_cast<int64_t>(e));
    }
    SamplingContext context = SamplingContext::greedy();
    require_close(layer->forward(x, graph, context), layer->output->forward(at::gelu(layer->node->forward(sums))),
                  1e-12, "gine");
  }
}

TEST_CASE("a gated gcn weighs its neighbours and updates the edges", "[message_passing]") {
  // Measured over 1,000 seeds, at most: 3.2e-16 where 1e-12 is allowed, and 2.9e-15 where 1e-11 is allowed.
  const at::Tensor x = normal({nodes, width}, 1);
  for (const bool updates : {false, true}) {
    MessagePassing layer = layer_of({LocalKind::gated_gcn, 3, updates});
    LocalGraph graph = graph_of(LocalKind::gated_gcn, 3);
    const at::Tensor before = graph.edges;
    const at::Tensor query = layer->query->forward(x), key = layer->key->forward(x), value = layer->value->forward(x),
                     edge = layer->edge->forward(before);
    at::Tensor sums = at::zeros({nodes, width}, at::kDouble), totals = at::full({nodes, width}, kGateEps, at::kDouble);
    std::vector<at::Tensor> gates;
    for (size_t e = 0; e < edges.size(); ++e) {
      const auto [i, j] = edges[e];
      gates.push_back(query[i] + key[j] + edge[static_cast<int64_t>(e)]);
      sums[i] += gates.back().sigmoid() * value[j];
      totals[i] += gates.back().sigmoid();
    }
    SamplingContext context = SamplingContext::greedy();
    require_close(layer->forward(x, graph, context), layer->node->forward(x) + sums / totals, 1e-12, "gated gcn");
    REQUIRE(layer->named_parameters().contains("edge_norm.weight") == updates);
    if (!updates) {
      require_equal(graph.edges, before, "edges of the last layer");
      continue;
    }
    const at::Tensor gate = at::stack(gates), spread = gate.var(0, /*unbiased=*/false);
    require_close(graph.edges, before + at::gelu((gate - gate.mean(0)) / (spread + 1e-5).sqrt()), 1e-11, "edges");
  }
}

TEST_CASE("convolutions name what is missing", "[message_passing]") {
  const at::Tensor x = normal({nodes, width}, 1);
  SamplingContext context = SamplingContext::greedy();
  for (const LocalKind kind : {LocalKind::gcn, LocalKind::gine, LocalKind::gated_gcn}) {
    MessagePassing layer = layer_of({kind, 3});
    LocalGraph graph = graph_of(kind, 3);
    require_error([&] { layer->forward(x.slice(0, 1), graph, context); }, {"x must have a row", "5 nodes"});
    graph.edge_attr = graph.edges = at::Tensor();
    require_error([&] { layer->forward(x, graph, context); }, {"edge_attr", "6 edges"});
  }
  require_error([] { MessagePassing(width, LocalOptions{}, NormKind::none); }, {"kind"});
  require_error([] { MessagePassing(width, LocalOptions{LocalKind::gated_gcn}, NormKind::none); }, {"edge_channels"});
}

TEST_CASE("a virtual node is read by the nodes of its item and hears them", "[message_passing]") {
  // Measured over 1,000 seeds, at most: 4.6e-16 where 1e-12 is allowed, and the same bits where 1e-14 is allowed.
  const at::Tensor ptr = at::tensor({0, 2, 2, 5}, at::kLong), x = normal({nodes, width}, 1);
  const EdgeIndex of_items = edges_of_items(ptr, nodes, at::kCPU);
  manual_seed(3);
  VirtualNode node(width, NormKind::none);
  node->to(at::kDouble);
  node->embedding.data().copy_(normal({width}, 4));
  SamplingContext context = SamplingContext::greedy();
  const at::Tensor state = node->start(3) * at::tensor({1.0, 2.0, 3.0}, at::kDouble).unsqueeze(1);
  const at::Tensor item = at::tensor({0, 0, 2, 2, 2}, at::kLong);
  require_close(node->read(x, state, of_items), x + state.index_select(0, item), 1e-14, "read");
  const at::Tensor sums = state.index_add(0, item, x);
  require_close(node->write(x, state, of_items, context), state + at::gelu(node->linear->forward(sums)), 1e-12,
                "write");
}

}  // namespace geosft::test::test_message_passing
