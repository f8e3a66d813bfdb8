// SPDX-License-Identifier: Apache-2.0
#include "graph/laplacian_pe.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "graph/graph_batch.h"
#include "tests/graph/graphs.h"

namespace geosft::test::test_laplacian_pe {
using test::require_close;
using test::require_equal;
using test::require_error;

namespace {

LaplacianEncoding encode(const CsrGraph& graph, int64_t k) {
  return laplacian_pe(graph.rowptr, graph.col, k, std::nullopt,
                      graph.weight.defined() ? std::optional(graph.weight) : std::nullopt);
}

CsrGraph in_double(CsrGraph graph) {
  graph.weight = at::ones({graph.edges()}, at::kDouble);
  return graph;
}

// L v = value v for the first `count` columns, each of length 1 and with values as expected; padding beyond. Pairs that
// are solved densely are off by 8.1e-15 at most over 1,000 seeds; those of the torus, whose iteration leaves up to
// 2e-11 (test_laplacian_solver.cpp), by 7.9e-13. Lengths and angles are off by 3.2e-15.
void require_encoding(const CsrGraph& graph, int64_t k, const at::Tensor& expected) {
  const LaplacianEncoding encoding = encode(graph, k);
  const int64_t count = expected.size(0);
  const at::Tensor vectors = encoding.vectors.slice(1, 0, count), values = encoding.values[0].slice(0, 0, count);
  require_close(values, expected, 1e-10, "values");
  require_close(test::dense_laplacian(graph).matmul(vectors), vectors * values, 1e-10, "L v", 1.0);
  require_close(vectors.t().matmul(vectors), at::eye(count, at::kDouble), 1e-12, "orthonormal", 1.0);
  require_equal(encoding.vectors.slice(1, count), at::zeros({graph.nodes(), k - count}, at::kDouble), "padding");
  require_equal(encoding.values.slice(1, count), at::zeros({1, k - count}, at::kDouble), "padding");
}

// The eigenvalues above 0 in ascending order, at most k.
at::Tensor expected_values(const CsrGraph& graph, int64_t k) {
  const at::Tensor values = std::get<0>(at::linalg_eigh(test::dense_laplacian(graph)));
  return values.masked_select(values > 1e-9)
      .slice(0, 0, k);  // a 0 is computed as some 1e-16, all others are above 1e-3
}

}  // namespace

TEST_CASE("laplacian_pe: connected, weighted, with loops and duplicates") {
  const CsrGraph graph = test::undirected_graph(50, 200, 1, true);
  require_encoding(graph, 6, expected_values(graph, 6));
}

TEST_CASE("laplacian_pe: disconnected graphs leave out every trivial eigenvector") {
  const CsrGraph graph = in_double(test::undirected_graph(60, 40, 2));
  const at::Tensor expected = expected_values(graph, 8);
  REQUIRE(expected.size(0) == 8);
  require_encoding(graph, 8, expected);
}

TEST_CASE("laplacian_pe: fewer vectors than asked for are padded with zeros") {
  require_encoding(in_double(test::path(3)), 5, at::tensor({1.0, 2.0}, at::kDouble));
  require_encoding(in_double(test::graph_of(3, {})), 4, at::zeros({0}, at::kDouble));
  require_encoding(in_double(test::graph_of(1, {{0, 0}})), 2, at::zeros({0}, at::kDouble));
  require_encoding(in_double(test::graph_of(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}})), 3,
                   at::tensor({2.0, 2.0}, at::kDouble));
}

TEST_CASE("laplacian_pe: equal components come in the order of their nodes") {
  const LaplacianEncoding encoding = encode(in_double(test::graph_of(4, {{0, 3}, {3, 0}, {1, 2}, {2, 1}})), 2);
  const double half = std::sqrt(0.5);  // measured, the same bits
  require_close(encoding.vectors.t(),
                at::tensor({half, 0.0, 0.0, -half, 0.0, half, -half, 0.0}, at::kDouble).view({2, 4}), 1e-12, "vectors");
}

TEST_CASE("laplacian_pe: simple eigenvectors follow their nodes, signs included") {
  const CsrGraph graph = test::undirected_graph(40, 100, 3, true);
  const at::Tensor order = at::randperm(40, test::generator(4), at::kLong);
  // Roundings of some 1e-16 by the distance between two eigenvalues: 1.4e-12 at most over 1,000 seeds.
  require_close(encode(permuted(graph, order), 5).vectors, encode(graph, 5).vectors.index_select(0, order), 1e-9,
                "vectors");
}

TEST_CASE("laplacian_pe: spaces of repeated eigenvalues follow their nodes, solved densely and iterated") {
  // All copies of the smallest eigenvalue: two of a cycle, four of a torus.
  for (const auto& [graph, copies] : {std::pair(test::cycle(12), 2), std::pair(test::torus(17), 4)}) {
    const CsrGraph exact = in_double(graph);
    const at::Tensor order = at::randperm(exact.nodes(), test::generator(9), at::kLong);
    const LaplacianEncoding before = encode(exact, copies), after = encode(permuted(exact, order), copies);
    // Over 1,000 seeds at most 4.3e-13 of values, and 2.8e-12 of what the vectors span.
    require_close(before.values, before.values.slice(1, 0, 1).expand({1, copies}), 1e-9, "one value");
    require_close(after.values, before.values, 1e-9, "values");
    const at::Tensor moved = before.vectors.index_select(0, order);
    require_close(after.vectors.matmul(after.vectors.t()), moved.matmul(moved.t()), 1e-9, "projection", 1.0);
    require_equal(encode(exact, copies).vectors, before.vectors, "the same basis every time");
  }
}

TEST_CASE("laplacian_pe: eigenvalues that lie close together are not those of one space") {
  // One edge that is heavier by 1e-3 splits the copies of an eigenvalue by some 1e-4 (cycle, solved densely) or 1e-6
  // (torus, iterated) of it. Vectors of a common basis would leave residuals of that size.
  for (CsrGraph graph : {in_double(test::cycle(12)), in_double(test::torus(17))}) {
    const at::Tensor source = edge_sources(graph);
    const at::Tensor edge = ((source == 0) & (graph.col == 1)) | ((source == 1) & (graph.col == 0));
    graph.weight = graph.weight + 1e-3 * edge.to(at::kDouble);
    require_encoding(graph, 4, expected_values(graph, 4));
  }
}

TEST_CASE("laplacian_pe: an eigenvalue that rounding makes negative") {
  // Two complete graphs of 5 nodes, joined by an edge that weighs nearly nothing.
  std::vector<std::pair<int64_t, int64_t>> edges = {{0, 5}, {5, 0}};
  for (const int64_t first : {0, 5}) {
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 5; ++j) {
        if (i != j) edges.emplace_back(first + i, first + j);
      }
    }
  }
  CsrGraph graph = test::graph_of(10, edges);
  const at::Tensor joins = (edge_sources(graph) < 5) != (graph.col < 5);
  graph.weight = at::where(joins, at::full({}, 1e-25, at::kDouble), at::ones({}, at::kDouble));
  const LaplacianEncoding encoding = encode(graph, 3);
  require_close(encoding.values[0][0], at::zeros({}, at::kDouble), 1e-14, "the smallest");
  require_close(encoding.values[0].slice(0, 1), at::full({2}, 1.25, at::kDouble), 1e-14, "the others");
}

TEST_CASE("laplacian_pe: components that are alike take turns in the order of their first nodes") {
  // Copies of one graph whose nodes are shuffled inside each copy: the same eigenvalues, but for rounding.
  const int64_t copies = 12, size = 9;
  const CsrGraph one = in_double(test::path(size));
  std::vector<CsrGraph> graphs;
  for (int64_t i = 0; i < copies; ++i) {
    graphs.push_back(permuted(one, at::randperm(size, test::generator(20 + i), at::kLong)));
  }
  const CsrGraph graph = concatenated(graphs).graph;
  const at::Tensor there = encode(graph, 3 * copies).vectors.abs().view({copies, size, 3 * copies}).amax(1) > 1e-6;
  require_equal(there, at::eye(copies, at::kLong).repeat({1, 3}).to(at::kBool), "the component that a column is of");
}

TEST_CASE("laplacian_pe: items of a batch are encoded on their own, empty ones too") {
  const std::vector<CsrGraph> graphs = {in_double(test::cycle(9)), in_double(test::graph_of(0, {})),
                                        in_double(test::path(2)), in_double(test::torus(17))};
  const GraphBatch batch = concatenated(graphs);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const LaplacianEncoding encoding =
      laplacian_pe(batch.graph.rowptr, batch.graph.col, 4, batch.ptr, batch.graph.weight);
  at::set_num_threads(2);
  require_equal(laplacian_pe(batch.graph.rowptr, batch.graph.col, 4, batch.ptr, batch.graph.weight).vectors,
                encoding.vectors, "threads");
  at::set_num_threads(threads);
  for (int64_t b = 0; b < 4; ++b) {
    const LaplacianEncoding alone = encode(graphs[b], 4);
    const int64_t begin = batch.ptr[b].item<int64_t>(), end = batch.ptr[b + 1].item<int64_t>();
    require_equal(encoding.vectors.slice(0, begin, end), alone.vectors, "vectors");
    require_equal(encoding.values[b], alone.values[0], "values");
  }
}

TEST_CASE("laplacian_pe: float32 without weights, an edge that weighs nothing is none") {
  REQUIRE(encode(test::cycle(5), 2).vectors.scalar_type() == at::kFloat);
  CsrGraph graph = test::path(3);
  require_equal(graph.col, at::tensor({1, 2, 0, 1}, at::kLong), "edges");
  graph.weight = at::tensor({1.0, 0.0, 1.0, 0.0}, at::kDouble);
  require_equal(encode(graph, 2).values[0].gt(0), at::tensor({1, 0}, at::kLong).to(at::kBool),
                "only one component has a vector");
}

TEST_CASE("with_random_signs: one sign a column and item, by the seed") {
  const at::Tensor vectors = at::rand({7, 30}, test::generator(5)) + 0.1, ptr = at::tensor({0, 3, 3, 7}, at::kLong);
  const at::Tensor flipped = with_random_signs(vectors, ptr, test::generator(6));
  const at::Tensor signs = flipped / vectors;
  require_close(signs.abs(), at::ones({7, 30}), 1e-6, "signs");  // measured, exactly 1
  require_equal(signs.slice(0, 1, 3), signs.slice(0, 0, 1).expand({2, 30}), "first item");
  require_equal(signs.slice(0, 4, 7), signs.slice(0, 3, 4).expand({3, 30}), "last item");
  REQUIRE_FALSE(at::equal(signs[0], signs[3]));
  require_equal(with_random_signs(vectors, ptr, test::generator(6)), flipped, "seed");
}

TEST_CASE("with_signs: given signs, a row an item") {
  const at::Tensor vectors = at::rand({5, 2}, test::generator(5)), ptr = at::tensor({0, 2, 5}, at::kLong);
  const at::Tensor signs = random_signs(2, 2, test::generator(6));
  const at::Tensor flipped = with_signs(vectors, signs, ptr);
  require_equal(flipped.slice(0, 0, 2), vectors.slice(0, 0, 2) * signs[0], "first item");
  require_equal(flipped.slice(0, 2), vectors.slice(0, 2) * signs[1], "second item");
  require_equal(with_random_signs(vectors, ptr, test::generator(6)), flipped, "drawn");
  require_error([&] { with_signs(vectors, signs); }, {"signs", "[1, 2]", "[2, 2]"});
}

TEST_CASE("laplacian_pe: no items have no vectors and no values") {
  const at::Tensor none = at::zeros({1}, at::kLong);
  const LaplacianEncoding encoding = laplacian_pe(none, at::empty({0}, at::kLong), 3, none);
  REQUIRE(encoding.vectors.sizes() == at::IntArrayRef({0, 3}));
  REQUIRE(encoding.values.sizes() == at::IntArrayRef({0, 3}));
  REQUIRE(with_random_signs(encoding.vectors, none, test::generator(1)).sizes() == at::IntArrayRef({0, 3}));
}

TEST_CASE("laplacian_pe: bad arguments are refused by name") {
  const CsrGraph good = test::cycle(4), directed = test::graph_of(2, {{0, 1}});
  require_error([&] { encode(good, 0); }, {"k must", "0"});
  require_error([&] { encode(good, int64_t{1} << 62); }, {"k = ", "memory"});
  require_error([&] { encode(directed, 1); }, {"col", "undirected"});
  require_error([&] { encode({good.rowptr, good.col, {}, at::full({8}, -1.0)}, 1); }, {"weight", "negative"});
  require_error([&] { laplacian_pe(good.rowptr, good.col, 1, at::tensor({0, 2, 4}, at::kLong)); }, {"col", "items"});
  require_error([&] { with_random_signs(at::ones({3}), std::nullopt, test::generator(1)); }, {"vectors", "[3]"});
}

}  // namespace geosft::test::test_laplacian_pe
