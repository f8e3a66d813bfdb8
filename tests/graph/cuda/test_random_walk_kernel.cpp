// SPDX-License-Identifier: Apache-2.0
#include "graph/cuda/random_walk_kernel.cuh"

#include <array>
#include <catch2/catch.hpp>
#include <limits>

#include "graph/cuda/random_walk_host.h"
#include "graph/graph_batch.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/graph/graphs.h"
#include "tests/guarded_memory.h"

namespace geosft::test::test_random_walk_kernel {
namespace {

using Optional = std::optional<at::Tensor>;

template <ThreadOrder kOrder>
at::Tensor emulated(const at::Tensor& rowptr, const at::Tensor& col, int64_t steps, const Optional& weight) {
  return cuda::random_walks(rowptr, col, steps, weight,
                            [](const auto& in) { cuda::run_grids(in, EmulatedGrids<kOrder>()); });
}

void require_exact(const CsrGraph& graph, int64_t steps, const std::string& what) {
  const Optional weight = graph.weight.defined() ? Optional(graph.weight) : std::nullopt;
  const at::Tensor actual = emulated<ThreadOrder::kAscending>(graph.rowptr, graph.col, steps, weight);
  // Largest difference over 1,000 seeds: 1.8e-15 with weights of float64, and 3.2e-7 in float32.
  require_close(actual, dense_random_walk_pe(graph, steps), weight ? 1e-12 : 1e-5, what);
  require_equal(emulated<ThreadOrder::kDescending>(graph.rowptr, graph.col, steps, weight), actual, what + " order");
}

}  // namespace

TEST_CASE("the CUDA kernels of random_walk_pe, emulated, reproduce the golden cases", "[random_walk_tile]") {
  for (const char* name : {"cycle_loops", "directed", "directed_weighted", "packed", "triangle_path", "weighted"}) {
    for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
      const Fixture fixture(std::string("random_walk_pe_") + name);
      const at::Tensor result = emulated<ThreadOrder::kAscending>(fixture.get("rowptr"), fixture.get("col"),
                                                                  static_cast<int64_t>(fixture.number("steps", 0)),
                                                                  fixture.get("weight", type));
      require_close(result, fixture.get("out"), type == at::kDouble ? 1e-13 : 1e-5, name);  // 2.2e-16 and 1.8e-7
    }
  }
}

TEST_CASE("the CUDA kernels of random_walk_pe, emulated, agree with powers of dense matrices", "[random_walk_tile]") {
  for (const bool weighted : {false, true}) {
    require_exact(random_graph(150, 400, 1, weighted), 9, "directed");
    require_exact(undirected_graph(150, 120, 2, weighted), 9, "undirected");
  }
  REQUIRE(emulated<ThreadOrder::kAscending>(graph_of(0, {}).rowptr, graph_of(0, {}).col, 3, std::nullopt).sizes() ==
          at::IntArrayRef({0, 3}));
  for (const CsrGraph& graph : {graph_of(1, {}), graph_of(1, {{0, 0}}), path(2), cycle(3), graph_of(3, {{0, 1}}),
                                graph_of(2, {{0, 1}, {0, 1}, {1, 0}, {1, 0}, {1, 1}})}) {
    require_exact(graph, 6, "small");
  }
}

TEST_CASE("the CUDA kernels of random_walk_pe, emulated, give NaN for walks that a negative weight affects",
          "[random_walk_tile]") {
  // A path 0 - 1 - 2 with a negative weight between 1 and 2, and an undirected edge 3 - 4 by itself.
  CsrGraph graph = graph_of(5, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {3, 4}, {4, 3}});
  graph.weight = at::tensor({1.0, 1.0, -2.0, 1.0, 1.0, 1.0}, at::kDouble);
  const at::Tensor result = emulated<ThreadOrder::kAscending>(graph.rowptr, graph.col, 4, graph.weight);
  REQUIRE(result.slice(0, 0, 3).select(1, 3).isnan().all().item<bool>());
  require_equal(result.slice(0, 3, 5), at::tensor({0.0, 1.0, 0.0, 1.0}, at::kDouble).expand({2, 4}), "others");
}

TEST_CASE("the CUDA kernels of random_walk_pe, emulated, follow the graphs of a batch apart", "[random_walk_tile]") {
  std::vector<CsrGraph> graphs;
  for (int64_t i = 0; i < 12; ++i) graphs.push_back(undirected_graph(1 + i * 3, 2 * i, static_cast<uint64_t>(i)));
  const CsrGraph batch = concatenated(graphs).graph;
  require_exact(batch, 8, "batch");
  // A stretch is never longer than the graph it lies in.
  const cuda::Stretches stretches = cuda::stretches_of(batch.rowptr, batch.col);
  int64_t node = 0;
  for (const CsrGraph& graph : graphs) {
    const at::Tensor begin = stretches.begin.slice(0, node, node + graph.nodes());
    const at::Tensor end = stretches.end.slice(0, node, node + graph.nodes());
    REQUIRE(begin.min().item<int64_t>() >= node);
    REQUIRE(end.max().item<int64_t>() <= node + graph.nodes());
    node += graph.nodes();
  }
}

TEST_CASE("the stretches of a graph are as short as its edges allow", "[random_walk_tile]") {
  const CsrGraph graph = graph_of(7, {{0, 2}, {4, 3}, {6, 6}});
  const cuda::Stretches stretches = cuda::stretches_of(graph.rowptr, graph.col);
  require_equal(stretches.begin, at::tensor({0, 0, 0, 3, 3, 5, 6}, at::kLong), "begin");
  require_equal(stretches.end, at::tensor({3, 3, 3, 5, 5, 6, 7}, at::kLong), "end");
}

TEST_CASE("memory for random_walk_pe on a GPU is cut into slices, or given to few blocks", "[random_walk_tile]") {
  const auto require_plan = [](int64_t nodes, int64_t bytes, const std::array<int64_t, 3>& expected) {
    const cuda::WalkPlan plan = cuda::walk_plan(nodes, bytes);
    CHECK((std::array{plan.blocks, plan.slice, plan.long_blocks} == expected));
    CHECK(plan.numbers(nodes) * bytes <= std::max(int64_t{1} << 30, 64 * nodes * bytes));
  };
  require_plan(1, 4, {1, 1, 0});
  require_plan(3000, 4, {94, 3000, 0});
  require_plan(7943, 4, {249, 7943, 0});
  require_plan(20000, 4, {528, 7943, 209});
  require_plan(20000, 8, {528, 3971, 104});
  require_plan(1000000, 4, {528, 7943, 4});
  require_plan(int64_t{1} << 40, 8, {528, 3971, 1});
}

TEST_CASE("the CUDA kernels of random_walk_pe, emulated, give the same bits whatever blocks have place for",
          "[random_walk_tile]") {
  const CsrGraph one = undirected_graph(200, 300, 3, true);
  std::vector<CsrGraph> graphs;
  for (int64_t i = 0; i < 20; ++i) graphs.push_back(undirected_graph(1 + i * 5, 4 * i, static_cast<uint64_t>(i), true));
  const auto run = [](const auto& in) { cuda::run_grids(in, EmulatedGrids<ThreadOrder::kAscending>()); };
  for (const CsrGraph& graph : {one, concatenated(graphs).graph}) {
    const at::Tensor expected = cuda::random_walks(graph.rowptr, graph.col, 5, graph.weight, run);
    const int64_t nodes = graph.nodes();
    for (const cuda::WalkPlan& plan : {cuda::WalkPlan{2, nodes, 0}, {3, 40, 2}, {1, 1, 1}, {2, 90, 1000}, {1, 0, 3}}) {
      const at::Tensor some = cuda::random_walks(graph.rowptr, graph.col, 5, graph.weight, run, plan);
      require_equal(some, expected, std::to_string(plan.slice) + " rows of " + std::to_string(nodes));
    }
  }
}

TEST_CASE("the CUDA kernels of random_walk_pe, emulated, stay inside the arrays whatever the indices",
          "[random_walk_tile]") {
  with_guarded_memory([] {
    const CsrGraph graph = undirected_graph(100, 200, 4);
    for (const int64_t wrong : {int64_t{-7}, int64_t{1000}, std::numeric_limits<int64_t>::max()}) {
      const at::Tensor rowptr = graph.rowptr.clone(), col = graph.col.clone();
      rowptr.slice(0, 20, 40).fill_(wrong);
      col.slice(0, 50, 90).fill_(wrong);
      const at::Tensor result = emulated<ThreadOrder::kAscending>(rowptr, col, 4, std::nullopt);
      REQUIRE(result.sizes() == at::IntArrayRef({100, 4}));
      REQUIRE(result.isfinite().all().item<bool>());
    }
  });
}

}  // namespace geosft::test::test_random_walk_kernel
