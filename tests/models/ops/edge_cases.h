// SPDX-License-Identifier: Apache-2.0
// Random edges for the operators that sum over edges, with rows and columns that have none, and repeated edges.
#pragma once

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "models/ops/cpu/simd.h"
#include "models/ops/edge_index.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test {

struct RandomEdges {
  at::Tensor rowptr, col;
  int64_t columns;

  RandomEdges(int64_t rows, int64_t column_count, int64_t edges, uint64_t seed) : columns(column_count) {
    const auto longs = at::TensorOptions().dtype(at::kLong);
    const at::Tensor row = std::get<0>(at::randint(rows, {edges}, generator(seed), longs).sort());
    rowptr = at::searchsorted(row, at::arange(rows + 1, longs));
    col = at::randint(columns, {edges}, generator(seed + 1), longs);
  }
  EdgeIndex index() const { return edge_index(rowptr, col, columns); }
  // Row and column of edge e.
  int64_t row_of(int64_t e) const {
    int64_t i = 0;
    while (rowptr[i + 1].item<int64_t>() <= e) ++i;
    return i;
  }
  int64_t column_of(int64_t e) const { return col[e].item<int64_t>(); }
  int64_t rows() const { return rowptr.size(0) - 1; }
  int64_t edges() const { return col.size(0); }
};

using Tensors = std::vector<at::Tensor>;

// The outputs of `call` on leaves of this type, then the gradients of the leaves for one gradient per output.
template <class Call>
Tensors outputs_and_gradients(const Call& call, const Tensors& inputs, const Tensors& grads, at::ScalarType type) {
  Tensors leaves, of_outputs;
  for (const at::Tensor& input : inputs) leaves.push_back(input.to(type).clone().requires_grad_(true));
  Tensors results = call(leaves);
  for (const at::Tensor& grad : grads) of_outputs.push_back(grad.to(type));
  torch::autograd::backward(results, of_outputs);
  for (at::Tensor& result : results) result = result.detach();
  for (const at::Tensor& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

inline void require_all_close(const Tensors& actual, const Tensors& expected, double tolerance,
                              const std::string& what) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    require_close(actual[i], expected[i], tolerance, what + " " + std::to_string(i));
  }
}

inline void require_all_equal(const Tensors& actual, const Tensors& expected, const std::string& what) {
  REQUIRE(actual.size() == expected.size());
  for (size_t i = 0; i < actual.size(); ++i) require_equal(actual[i], expected[i], what + " " + std::to_string(i));
}

// Compares what a case evaluates, in both types and on every vector target, with a result in float64.
template <class Case>
void require_agreement_on_every_target(const Case& c, const Tensors& expected, double single) {
  for (const std::string& target : simd_target_names()) {
    force_simd_target(target);
    require_all_close(c.evaluated(at::kDouble), expected, 1e-12, target + " float64");
    require_all_close(c.evaluated(at::kFloat), expected, single, target + " float32");
  }
  force_simd_target("");
}

template <class Case>
void require_same_bits_on_two_threads(const Case& c) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Tensors one = c.evaluated(at::kFloat);
  at::set_num_threads(2);
  const Tensors two = c.evaluated(at::kFloat);
  at::set_num_threads(before);
  require_all_equal(two, one, "threads");
}

// 2 rows, 3 columns and 4 edges, none of whose numbers is in range.
inline EdgeIndex wild_index() {
  const at::Tensor wild = at::tensor({int64_t{-5}, int64_t{1000}, INT64_MAX, INT64_MIN});
  return {at::tensor({int64_t{-1}, INT64_MAX, int64_t{2}}), wild, wild,
          at::tensor({INT64_MIN, int64_t{3}, INT64_MAX, int64_t{0}}), wild};
}

}  // namespace geosft::test
