// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/benchmark.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::bench::test::test_benchmark {
namespace {

std::function<at::Tensor(const at::Tensor&)> as_is() {
  return [](const at::Tensor& result) { return result; };
}

Benchmark two(const at::Tensor& ours, const Tensors& other) {
  Benchmark benchmark{"work/small", {}};
  benchmark.implementations = {{"geosft", [=] { return Tensors{ours}; }},
                               {"other", [=] { return other; }, {}, as_is()}};
  return benchmark;
}

}  // namespace

TEST_CASE("implementations that agree pass, those that do not are named", "[bench]") {
  const at::Tensor numbers = at::arange(6, at::TensorOptions().dtype(at::kFloat));
  check_agreement(two(numbers, {numbers + 0.001}), 1e-3);
  using geosft::test::require_error;
  require_error([&] { check_agreement(two(numbers, {numbers + 0.1}), 1e-3); }, {"work/small", "other", "differs"});
  require_error([&] { check_agreement(two(numbers, {numbers * NAN}), 1e-3); }, {"other", "differs"});
  require_error([&] { check_agreement(two(numbers, {numbers.view({2, 3})})); }, {"other", "shape", "[2, 3]"});
  require_error([&] { check_agreement(two(numbers, {numbers, numbers})); }, {"other", "2 results", "expected 1"});
}

TEST_CASE("an implementation without `align` is not compared", "[bench]") {
  Benchmark benchmark = two(at::zeros({2}), {at::ones({3})});
  benchmark.implementations[1].align = {};
  CHECK_NOTHROW(check_agreement(benchmark));
}

TEST_CASE("a pass gives the output, and with backward the gradients", "[bench]") {
  const at::Tensor x = at::tensor({1.0, 2.0}).requires_grad_(true), grad_output = at::tensor({1.0, 10.0});
  const auto square = [x] { return x * x; };
  const Tensors forward = measured_pass(Pass::forward, {x}, grad_output, square)();
  REQUIRE(forward.size() == 1);
  CHECK_FALSE(forward[0].requires_grad());
  const Tensors both = measured_pass(Pass::both, {x}, grad_output, square)();
  REQUIRE(both.size() == 2);
  geosft::test::require_equal(both[1], at::tensor({2.0, 40.0}), "gradient");
  CHECK_FALSE(x.grad().defined());
}

}  // namespace geosft::bench::test::test_benchmark
