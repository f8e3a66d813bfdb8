// SPDX-License-Identifier: Apache-2.0
#include "graph/walk_kernels.h"

#include <catch2/catch.hpp>

#include "graph/walk_graph.h"
#include "models/ops/cpu/simd.h"
#include "tests/graph/graphs.h"

namespace geosft::test::test_walk_kernels {

namespace {

// One connected graph with random numbers in its rows, and room for a step. With 20 ends of edges per node some node
// has none with probability 400 e^-20 = 1e-6.
template <typename T>
struct Problem {
  static constexpr int64_t columns = walk_sources<T>;
  CsrGraph graph;
  WalkGraph<T> walks;
  LargeArray<T> from, to;

  Problem(bool symmetric, bool weighted, at::ScalarType dtype)
      : graph(symmetric ? test::undirected_graph(400, 4000, 1, weighted) : test::random_graph(400, 4000, 1, weighted)),
        from((400 + 1) * columns, T(0)),
        to(from) {
    if (weighted) graph.weight = graph.weight.to(dtype);
    walks = prepare_walks<T>(graph.rowptr, graph.col, weighted ? std::optional(graph.weight) : std::nullopt);
    REQUIRE(walks.symmetric == symmetric);
    REQUIRE(walks.order.components() == 1);
    const at::Tensor numbers = at::rand({400, columns}, test::generator(2), at::TensorOptions().dtype(dtype));
    std::copy_n(numbers.const_data_ptr<T>(), numbers.numel(), from.begin());
  }
  WalkStep<T> step(const WalkLists<T>& lists, const std::vector<int32_t>& rows) {
    return {lists.begin.data(),
            lists.neighbour.data(),
            lists.weight.empty() ? nullptr : lists.weight.data(),
            walks.inverse_degree.data(),
            rows.data(),
            static_cast<int64_t>(rows.size()),
            from.data(),
            to.data()};
  }
  // The numbers of an array by nodes.
  at::Tensor by_node(const LargeArray<T>& rows) const {
    at::Tensor result = at::zeros({400, columns}, at::kDouble);
    for (int64_t i = 0; i < 400; ++i) {
      for (int64_t s = 0; s < columns; ++s) {
        result.data_ptr<double>()[walks.order.node[i] * columns + s] = rows[i * columns + s];
      }
    }
    return result;
  }
};

std::vector<int32_t> all_rows() {
  std::vector<int32_t> rows(400);
  for (int32_t i = 0; i < 400; ++i) rows[i] = 399 - i;
  return rows;
}

at::Tensor sums_tensor(const std::vector<double>& sums) {
  return at::tensor(sums, at::kDouble);
}

// Returns rows [n, c] divided by the degrees [n, 1] of their nodes; 0 where a node has no edge, as walk_graph.h says.
at::Tensor over_degree(const at::Tensor& rows, const at::Tensor& degree) {
  return at::where(degree == 0, at::zeros_like(rows), rows / degree);
}

template <typename T>
void check_symmetric(bool weighted, at::ScalarType dtype, double tolerance) {
  Problem<T> problem(true, weighted, dtype);
  std::vector<double> even(walk_sources<T>, 0), odd(even);
  walk_step_symmetric(problem.step(problem.walks.out, all_rows()), even.data(), odd.data());
  const at::Tensor adjacency = test::dense_adjacency(problem.graph), degree = adjacency.sum(1, true);
  const at::Tensor before = problem.by_node(problem.from), after = over_degree(adjacency.matmul(before), degree);
  test::require_close(problem.by_node(problem.to), after, tolerance, "to");
  test::require_close(sums_tensor(even), (degree * after * after).sum(0), tolerance, "even");
  test::require_close(sums_tensor(odd), (degree * after * before).sum(0), tolerance, "odd");
}

template <typename T>
void check_general(at::ScalarType dtype, double tolerance) {
  Problem<T> problem(false, true, dtype);
  walk_step(problem.step(problem.walks.out, all_rows()));
  const at::Tensor adjacency = test::dense_adjacency(problem.graph);
  const at::Tensor before = problem.by_node(problem.from);
  const at::Tensor after = over_degree(adjacency.matmul(before), adjacency.sum(1, true));
  test::require_close(problem.by_node(problem.to), after, tolerance, "to");
  std::vector<double> product(walk_sources<T>, 0);
  const std::vector<int32_t> rows = all_rows();
  walk_product(problem.from.data(), problem.to.data(), rows.data(), 400, product.data());
  test::require_close(sums_tensor(product), (before * after).sum(0), tolerance, "product");
}

}  // namespace

TEST_CASE("walk kernels: against dense matrices, with every kind of vector instructions") {
  for (const std::string& target : simd_target_names()) {
    INFO("vector target " << target);
    force_simd_target(target);
    for (const bool weighted : {false, true}) {
      check_symmetric<float>(weighted, at::kFloat, 2e-6);
      check_symmetric<double>(weighted, at::kDouble, 1e-13);
    }
    check_general<float>(at::kFloat, 2e-6);
    check_general<double>(at::kDouble, 1e-13);
  }
  force_simd_target("");
}

TEST_CASE("walk kernels: only the rows asked for are written") {
  Problem<float> problem(true, false, at::kFloat);
  std::vector<double> even(walk_sources<float>, 0), odd(even);
  walk_step_symmetric(problem.step(problem.walks.out, {3, 17}), even.data(), odd.data());
  for (int64_t row = 0; row <= 400; ++row) REQUIRE((problem.to[row * 16] != 0) == (row == 3 || row == 17));
}

}  // namespace geosft::test::test_walk_kernels
