// SPDX-License-Identifier: Apache-2.0
#include "graph/random_walk_pe_estimate.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "tests/graph/graphs.h"

namespace geosft::test::test_random_walk_pe_estimate {
using test::require_equal;
using test::require_error;

namespace {

RandomWalkEstimate estimate(const CsrGraph& graph, int64_t steps, int64_t walks, uint64_t seed) {
  return random_walk_pe_estimate(graph.rowptr, graph.col, steps, walks, seed,
                                 graph.weight.defined() ? std::optional(graph.weight) : std::nullopt);
}

}  // namespace

TEST_CASE("random_walk_pe_estimate: the error is what the standard error says") {
  const bool directed = GENERATE(false, true), weighted = GENERATE(false, true);
  CsrGraph graph = test::random_graph(60, 150, 1, weighted);
  if (!directed) graph = symmetrized(graph);
  const at::Tensor exact = test::dense_random_walk_pe(graph, 8);
  // Adds up several estimates: in one, few walks return to some nodes, whose errors are not normal, and the steps of a
  // walk depend on each other.
  constexpr int64_t estimates = 10;
  at::Tensor error = at::zeros_like(exact), variance = at::zeros_like(exact);
  double spread = 0;
  for (uint64_t seed = 7; seed < 7 + estimates; ++seed) {
    const RandomWalkEstimate result = estimate(graph, 8, 4000, seed);
    error += result.mean - exact;
    variance += result.standard_error.square();
    const at::Tensor deviation = (result.mean - exact) / result.standard_error;
    spread += deviation.masked_select(exact * (1 - exact) > 0.01).square().mean().item<double>() / estimates;
  }
  REQUIRE((error / variance.sqrt()).abs().max().item<double>() < 5);
  REQUIRE(spread > 0.7);
  REQUIRE(spread < 1.3);
}

TEST_CASE("random_walk_pe_estimate: certain returns, dead ends and edges that weigh nothing") {
  CsrGraph graph = test::graph_of(4, {{0, 1}, {1, 0}, {2, 3}, {1, 2}});
  graph.weight = at::tensor({1.0, 2.0, 0.0, 1.0}, at::kDouble);  // by rows: 0 -> 1, 1 -> 0, 1 -> 2, 2 -> 3
  const at::Tensor mean = estimate(graph, 2, 50, 3).mean;
  require_equal(mean[0], at::tensor({0.0, 1.0}, at::kDouble), "node 0");
  require_equal(mean.slice(0, 2), at::zeros({2, 2}, at::kDouble), "dead ends");
  REQUIRE(estimate(graph, 2, 50, 3).standard_error.min().item<double>() > 0);
}

TEST_CASE("random_walk_pe_estimate: a function of the seed alone") {
  const CsrGraph graph = test::undirected_graph(500, 1500, 4);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = estimate(graph, 6, 40, 11).mean;
  at::set_num_threads(2);
  require_equal(estimate(graph, 6, 40, 11).mean, one, "threads");
  at::set_num_threads(threads);
  REQUIRE_FALSE(at::equal(estimate(graph, 6, 40, 12).mean, one));
  REQUIRE(one.scalar_type() == at::kFloat);
}

TEST_CASE("random_walk_pe_estimate: bad arguments are refused by name") {
  CsrGraph graph = test::cycle(4);
  require_error([&] { estimate(graph, 0, 10, 1); }, {"steps", "0"});
  require_error([&] { estimate(graph, 3, 1, 1); }, {"walks", "1"});
  graph.weight = at::tensor({1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, at::kDouble);
  require_error([&] { estimate(graph, 3, 10, 1); }, {"weight", "negative", "-1"});
}

}  // namespace geosft::test::test_random_walk_pe_estimate
