// SPDX-License-Identifier: Apache-2.0
#include "models/ops/gather_pairs.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <vector>

#include "tests/support.h"

namespace geosft::test::test_gather_pairs {
namespace {

// Samples of a packed batch, whose rows are sampled again and again.
struct ManySamples {
  int64_t samples = 5000, rows = 40;
  at::Tensor x = at::randn({rows, 2, 3}, generator(3)), grad_output = at::randn({samples, 2, 3}, generator(4));
  at::Tensor top = random_rows(5), partner = random_rows(6), weight = at::rand({samples}, generator(7));

  at::Tensor random_rows(uint64_t seed) const {
    return at::randint(rows, {samples}, generator(seed), at::TensorOptions().dtype(at::kLong));
  }
};

struct Gathered {
  at::Tensor out, x, weight;  // the last two: gradients
};

Gathered gather(const ManySamples& many) {
  const at::Tensor x = many.x.detach().requires_grad_(true), weight = many.weight.detach().requires_grad_(true);
  const at::Tensor out = gather_pairs(x, many.top, many.partner, weight);
  out.backward(many.grad_output);
  return {out.detach(), x.grad(), weight.grad()};
}

void require_same(const Gathered& actual, const Gathered& expected) {
  require_equal(actual.out, expected.out, "out");
  require_equal(actual.x, expected.x, "gradient of x");
  require_equal(actual.weight, expected.weight, "gradient of weight");
}

}  // namespace

TEST_CASE("gather_pairs blends the rows of each pair", "[gather_pairs]") {
  // Measured: the same bits where 1e-14 is allowed.
  const at::Tensor x = at::tensor({1.0, 2.0, 10.0, 20.0, 100.0, 200.0}, at::kDouble).view({3, 2});
  const at::Tensor top = at::tensor({2, 1}, at::kLong), partner = at::tensor({0, 1}, at::kLong);
  const at::Tensor weight = at::tensor({0.25, 0.5}, at::kDouble);
  require_close(gather_pairs(x, top, partner, weight), at::tensor({25.75, 51.5, 10.0, 20.0}, at::kDouble).view({2, 2}),
                1e-14, "blend");
  REQUIRE(gather_pairs(x.view({3, 1, 2}), top, partner, weight).sizes() == at::IntArrayRef({2, 1, 2}));
  REQUIRE(gather_pairs(x.select(1, 0), top, partner, weight).sizes() == at::IntArrayRef({2}));
  REQUIRE(gather_pairs(x.to(at::kHalf), top, partner, weight.to(at::kFloat)).scalar_type() == at::kFloat);
}

TEST_CASE("gather_pairs passes gradcheck with rows that are sampled more than once", "[gather_pairs]") {
  const at::Tensor top = at::tensor({2, 1, 2, 0}, at::kLong), partner = at::tensor({0, 1, 4, 2}, at::kLong);
  require_gradcheck([&](const std::vector<at::Tensor>& in) { return gather_pairs(in[0], top, partner, in[1]); },
                    {at::randn({5, 3}, generator(1), at::kDouble), at::rand({4}, generator(2), at::kDouble)});
}

TEST_CASE("gather_pairs of rows that are sampled often agrees with indexing one by one", "[gather_pairs]") {
  // Measured over 1,000 seeds, at most: 1.9e-7 where 1e-6 is allowed, and 7.4e-7 where 1e-5 is allowed.
  const ManySamples many;
  const Gathered found = gather(many);
  const at::Tensor x = many.x.to(at::kDouble), weight = many.weight.to(at::kDouble);
  const at::Tensor grad_output = many.grad_output.to(at::kDouble);
  at::Tensor out = at::empty_like(grad_output), x_grad = at::zeros_like(x), weight_grad = at::empty_like(weight);
  for (int64_t j = 0; j < many.samples; ++j) {
    const at::Tensor top = many.top[j], partner = many.partner[j], difference = x[top] - x[partner];
    out[j] = x[partner] + weight[j] * difference;
    x_grad[top] += weight[j] * grad_output[j];
    x_grad[partner] += (1 - weight[j]) * grad_output[j];
    weight_grad[j] = (grad_output[j] * difference).sum();
  }
  require_close(found.out, out, 1e-6, "out");
  require_close(found.x, x_grad, 1e-5, "gradient of x");
  require_close(found.weight, weight_grad, 1e-5, "gradient of weight");
}

TEST_CASE("gather_pairs has the same bits every time, on one thread and on two", "[gather_pairs]") {
  const ManySamples many;
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Gathered one = gather(many);
  at::set_num_threads(2);
  const Gathered two = gather(many), again = gather(many);
  at::set_num_threads(before);
  require_same(two, one);
  require_same(again, one);
}

TEST_CASE("gather_pairs takes strided arguments", "[gather_pairs]") {
  // Measured over 1,000 seeds, at most: 2.3e-7 where 1e-6 is allowed.
  ManySamples many;
  const Gathered expected = gather(many);
  // Of every tensor the same numbers, apart from each other in memory.
  many.x = many.x.transpose(0, 2).contiguous().transpose(0, 2);
  many.grad_output = many.grad_output.transpose(0, 1).contiguous().transpose(0, 1);
  for (at::Tensor* tensor : {&many.top, &many.partner, &many.weight}) {
    *tensor = at::stack({*tensor, at::zeros_like(*tensor)}, 1).select(1, 0);
    REQUIRE_FALSE(tensor->is_contiguous());
  }
  const Gathered found = gather(many);
  require_equal(found.out, expected.out, "out");
  require_close(found.x, expected.x, 1e-6, "gradient of x");
  require_close(found.weight, expected.weight, 1e-6, "gradient of weight");
}

TEST_CASE("gather_pairs is differentiated twice", "[gather_pairs]") {
  const at::Tensor top = at::tensor({2, 1, 2, 0}, at::kLong), partner = at::tensor({0, 1, 4, 2}, at::kLong);
  const at::Tensor grad_output = at::randn({4, 3}, generator(8), at::kDouble);
  const auto gradients = [&](const std::vector<at::Tensor>& in) {
    const at::AutoGradMode enabled(true);  // central differences are taken without
    const at::Tensor out = gather_pairs(in[0], top, partner, in[1]).pow(2) * grad_output;
    const auto grads = torch::autograd::grad({out.sum()}, {in[0], in[1]}, {}, std::nullopt, true);
    return at::cat({grads[0].flatten(), grads[1]});
  };
  require_gradcheck(gradients,
                    {at::randn({5, 3}, generator(1), at::kDouble), at::rand({4}, generator(2), at::kDouble)});
}

TEST_CASE("gather_pairs names the argument that is wrong", "[gather_pairs]") {
  const at::Tensor x = at::ones({3, 2}), rows = at::zeros({4}, at::kLong), weight = at::ones({4});
  require_error([&] { gather_pairs(at::ones({3}, at::kLong), rows, rows, weight); }, {"x", "Long"});
  require_error([&] { gather_pairs(x, at::zeros({4}), rows, weight); }, {"top", "Float"});
  require_error([&] { gather_pairs(x, rows, at::zeros({3}, at::kLong), weight); }, {"partner", "4", "3"});
  require_error([&] { gather_pairs(x, rows, rows, at::ones({4, 1})); }, {"weight", "[4, 1]"});
  require_error([&] { gather_pairs(x, rows + 3, rows, weight); }, {"top must", "has 3", "row 3"});
  require_error([&] { gather_pairs(x, rows, rows - 1, weight); }, {"partner must", "has 3", "row -1"});
}

}  // namespace geosft::test::test_gather_pairs
