// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_tile.h"

#include "models/ops/cuda/polynomial_host.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_tile {
namespace {

// The CUDA kernels, emulated: result and gradients.
template <ThreadOrder kOrder = ThreadOrder::kAscending>
Outcome emulated(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& upstream, at::ScalarType type) {
  const std::optional<at::Tensor> q_ptr = a.optional("q_ptr"), k_ptr = a.optional("k_ptr");
  const at::Tensor q = a["q"].to(type), k = a["k"].to(type), v = a["v"].to(type);
  const PolynomialArguments arguments{q, k, v, n.degree, n.scale, n.causal, q_ptr, k_ptr, n.center};
  const auto run = [](const auto& in) { cuda::polynomial_grids(in, EmulatedGrids<kOrder>()); };
  const auto [out, denominator] = cuda::polynomial_forward(arguments, run);
  const auto [q_grad, k_grad, v_grad] = cuda::polynomial_backward(upstream.to(type), out, denominator, arguments, run);
  return {out, {{"q", q_grad}, {"k", k_grad}, {"v", v_grad}}};
}

// The same bits in the other order of threads.
Outcome ordered(const Arguments& a, const PolynomialNumbers& n, const at::Tensor& upstream, at::ScalarType type) {
  const Outcome actual = emulated(a, n, upstream, type);
  const Outcome turned = emulated<ThreadOrder::kDescending>(a, n, upstream, type);
  require_equal(turned.out, actual.out, "other order");
  for (const auto& [name, gradient] : actual.gradients) require_equal(turned.gradients.at(name), gradient, name);
  return actual;
}

}  // namespace

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, reproduce the golden cases", "[polynomial_tile]") {
  require_golden_runs(ordered);
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, agree with the reference", "[polynomial_tile]") {
  require_reference_runs(ordered, awkward_polynomials());
}

TEST_CASE("the CUDA kernels of polynomial_attention, emulated, take float16 and bfloat16", "[polynomial_tile]") {
  require_half_runs(emulated<>);
}

TEST_CASE("the CUDA kernels of polynomial_attention name the argument that is too wide", "[polynomial_tile]") {
  for (const auto& [c, cv] : {std::pair(129, 1), std::pair(1, 130)}) {
    const Arguments a = random_polynomial({{1}, {1}, 1, c, cv}, 41);
    require_error([&] { emulated(a, {1, 1.0}, at::ones({1, 1, cv}), at::kFloat); }, {"q", "v", "128"});
  }
}

}  // namespace geosft::test::test_polynomial_tile
