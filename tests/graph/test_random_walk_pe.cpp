// SPDX-License-Identifier: Apache-2.0
#include "graph/random_walk_pe.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <limits>

#include "graph/graph_batch.h"
#include "tests/graph/graphs.h"

namespace geosft::test::test_random_walk_pe {
using test::require_close;
using test::require_equal;
using test::require_error;

namespace {

at::Tensor encode(const CsrGraph& graph, int64_t steps) {
  return random_walk_pe(graph.rowptr, graph.col, steps,
                        graph.weight.defined() ? std::optional(graph.weight) : std::nullopt);
}

void require_exact(const CsrGraph& graph, int64_t steps) {
  // Measured: 2.2e-15 with weights of float64 and 2.0e-7 in float32, in 20 steps.
  require_close(encode(graph, steps), test::dense_random_walk_pe(graph, steps), graph.weight.defined() ? 1e-12 : 1e-5,
                "return probabilities");
}

}  // namespace

TEST_CASE("random_walk_pe: fixtures") {
  const std::string name =
      GENERATE("cycle_loops", "directed", "directed_weighted", "packed", "triangle_path", "weighted");
  const at::ScalarType dtype = GENERATE(at::kDouble, at::kFloat);
  const test::Fixture fixture("random_walk_pe_" + name);
  const at::Tensor result =
      random_walk_pe(fixture.get("rowptr"), fixture.get("col"), static_cast<int64_t>(fixture.number("steps", 0)),
                     fixture.get("weight", dtype));
  require_close(result, fixture.get("out"), dtype == at::kDouble ? 1e-13 : 1e-5, name);  // measured: 2.8e-16 and 2.1e-7
}

TEST_CASE("random_walk_pe: against powers of dense matrices") {
  const int64_t steps = GENERATE(1, 2, 5, 20);
  for (const bool weighted : {false, true}) {
    require_exact(test::random_graph(200, 500, 1, weighted), steps);
    require_exact(test::undirected_graph(200, 150, 2, weighted), steps);
    require_exact(test::undirected_graph(200, 500, 3, weighted), steps);
  }
}

TEST_CASE("random_walk_pe: graphs of 0, 1, 2 and 3 nodes, without edges, with loops and duplicates") {
  REQUIRE(encode(test::graph_of(0, {}), 3).sizes() == at::IntArrayRef({0, 3}));
  for (const CsrGraph& graph :
       {test::graph_of(1, {}), test::graph_of(1, {{0, 0}}), test::graph_of(2, {}), test::path(2), test::cycle(3),
        test::graph_of(2, {{0, 1}, {0, 1}, {1, 0}, {1, 0}, {1, 1}}), test::graph_of(3, {{0, 1}}),
        test::graph_of(3, {{0, 1}, {1, 0}, {1, 0}})}) {
    require_exact(graph, 6);
  }
}

TEST_CASE("random_walk_pe: a large tree-like graph, whose nodes are followed alone, agrees with small pieces") {
  const CsrGraph tree_like = test::undirected_graph(40000, 60000, 4);
  const at::Tensor encoding = encode(tree_like, 4), row = tree_like.rowptr, col = tree_like.col;
  for (int64_t node = 0; node < 40000; node += 3989) {
    // Walks of 4 steps see nothing beyond distance 2, but degrees one step further out.
    std::vector<int64_t> near = {node};
    for (size_t begin = 0, round = 0; round < 3; ++round) {
      const size_t end = near.size();
      for (; begin < end; ++begin) {
        for (int64_t e = row[near[begin]].item<int64_t>(); e < row[near[begin] + 1].item<int64_t>(); ++e) {
          const int64_t to = col[e].item<int64_t>();
          if (std::find(near.begin(), near.end(), to) == near.end()) near.push_back(to);
        }
      }
    }
    const CsrGraph piece = induced_subgraph(tree_like, at::tensor(near, at::kLong));
    // Measured: 7.4e-8, of a sum in float32.
    require_close(encoding[node], test::dense_random_walk_pe(piece, 4)[0], 1e-5, "node " + std::to_string(node));
  }
}

TEST_CASE("random_walk_pe: a packed batch is the encodings of its items") {
  std::vector<CsrGraph> graphs;
  std::vector<at::Tensor> expected;
  for (int64_t i = 0; i < 20; ++i) {
    graphs.push_back(test::undirected_graph(1 + i * 3, 2 * i, static_cast<uint64_t>(i)));
    expected.push_back(encode(graphs.back(), 8));
  }
  require_close(encode(concatenated(graphs).graph, 8), at::cat(expected), 1e-6, "batch");  // the same bits, 1,000 seeds
}

TEST_CASE("random_walk_pe: the number of threads and strides change nothing") {
  const CsrGraph graph =
      GENERATE(false, true) ? test::undirected_graph(3000, 7000, 5, true) : test::random_graph(900, 3000, 6, true);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = encode(graph, 9);
  at::set_num_threads(2);
  const auto strided = [](const at::Tensor& tensor) { return at::stack({tensor, tensor}, 1).select(1, 0); };
  const at::Tensor two = random_walk_pe(strided(graph.rowptr), strided(graph.col), 9, strided(graph.weight));
  at::set_num_threads(threads);
  require_equal(two, one, "threads");
}

TEST_CASE("random_walk_pe: renumbering the nodes renumbers the encodings") {
  const CsrGraph graph = test::undirected_graph(300, 500, 7, true);
  const at::Tensor order = at::randperm(300, test::generator(8), at::kLong);
  // Sums of up to 300 probabilities in another order: 1.3e-15 at most over 1,000 seeds.
  require_close(encode(permuted(graph, order), 16), encode(graph, 16).index_select(0, order), 1e-12, "permuted");
}

TEST_CASE("random_walk_pe: no gradient, the dtype of weight, shapes without values") {
  CsrGraph graph = test::undirected_graph(10, 20, 9, true);
  graph.weight.requires_grad_(true);
  REQUIRE_FALSE(encode(graph, 3).requires_grad());
  REQUIRE(encode(graph, 3).scalar_type() == at::kDouble);
  const at::Tensor meta = at::empty({8}, at::TensorOptions().dtype(at::kLong).device(at::kMeta));
  REQUIRE(random_walk_pe(meta, meta, 5).sizes() == at::IntArrayRef({7, 5}));
  REQUIRE(random_walk_pe(meta, meta, 5).scalar_type() == at::kFloat);
}

TEST_CASE("random_walk_pe: bad arguments are refused by name") {
  const CsrGraph good = test::cycle(4);
  require_error([&] { encode(good, 0); }, {"steps", "0"});
  require_error([&] { encode(good, int64_t{1} << 62); }, {"steps", "memory"});
  require_error([&] { encode({good.rowptr, good.col + 1, {}, {}}, 2); }, {"col"});
  require_error([&] { encode({good.rowptr + 1, good.col, {}, {}}, 2); }, {"rowptr"});
  require_error([&] { encode({good.rowptr.to(at::kFloat), good.col, {}, {}}, 2); }, {"rowptr", "Float"});
  require_error([&] { encode({good.rowptr, good.col, {}, at::ones({3})}, 2); }, {"weight", "8", "[3]"});
  require_error([&] { encode({good.rowptr, good.col, {}, at::ones({8}, at::kLong)}, 2); }, {"weight", "Long"});
  const at::Tensor infinite = at::full({8}, std::numeric_limits<float>::infinity());
  require_error([&] { encode({good.rowptr, good.col, {}, infinite}, 2); }, {"weight", "finite"});
  const at::Tensor negative = at::tensor({1.0, 1.0, 1.0, -0.5, 1.0, 1.0, 1.0, 1.0}, at::kDouble);
  require_error([&] { encode({good.rowptr, good.col, {}, negative}, 2); }, {"weight", "negative", "entry 3 is -0.5"});
  for (const float weight : {2e38F, 1e-40F}) {  // the sum of two, or its inverse, is beyond float32
    at::Tensor extreme = at::full({8}, weight);
    extreme[0] = 0.5F * weight;
    require_error([&] { encode({good.rowptr, good.col, {}, extreme}, 2); }, {"weight", "in the range", "node "});
    CHECK(encode({good.rowptr, good.col, {}, extreme.to(at::kDouble)}, 2).isfinite().all().item<bool>());
  }
}

}  // namespace geosft::test::test_random_walk_pe
