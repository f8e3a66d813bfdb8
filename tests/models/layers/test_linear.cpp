// SPDX-License-Identifier: Apache-2.0
#include "models/layers/linear.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>

#include <catch2/catch.hpp>
#include <limits>

#include "models/training/autocast.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_linear {
namespace {

struct Case {
  Activation activation;
  const char* name;

  at::Tensor of(const at::Tensor& x) const {
    if (activation == Activation::gelu) return at::gelu(x);
    return activation == Activation::relu ? x.clamp_min(0) : x;
  }
};

constexpr Case cases[] = {{Activation::none, "none"}, {Activation::gelu, "gelu"}, {Activation::relu, "relu"}};

at::Tensor exact(const torch::nn::Linear& linear, const at::Tensor& x) {
  const at::Tensor rows = at::matmul(x.to(at::kDouble), linear->weight.detach().to(at::kDouble).t());
  return linear->bias.defined() ? rows + linear->bias.detach().to(at::kDouble) : rows;
}

}  // namespace

TEST_CASE("linear maps without a gradient are those with one, but for rounding", "[linear]") {
  // Measured over 1,000 seeds, at most: 8.3e-7 where 1e-5 is allowed.
  manual_seed(1);
  for (const bool bias : {true, false}) {
    for (const auto& [in, out] : {std::pair<int64_t, int64_t>{64, 256}, {256, 64}, {19, 5}, {1, 1}, {7, 32}}) {
      torch::nn::Linear linear(torch::nn::LinearOptions(in, out).bias(bias));
      for (const int64_t rows : {1, 3, 257}) {
        const at::Tensor x = at::randn({rows, in}, generator(static_cast<uint64_t>(rows)));
        // Outputs are compared relative to the magnitudes of their terms: one of few may be next to 0.
        at::Tensor magnitude = at::matmul(x.abs(), linear->weight.detach().abs().t());
        if (bias) magnitude += linear->bias.detach().abs();
        const double terms = magnitude.max().item<double>();
        for (const Case& one : cases) {
          const at::Tensor trained = apply_linear(linear, x, one.activation);
          const at::NoGradGuard guard;
          const at::Tensor found = apply_linear(linear, x, one.activation);
          CHECK(found.scalar_type() == at::kFloat);
          CHECK_FALSE(found.requires_grad());
          require_close(found, trained.detach(), 1e-5, one.name, terms);
          require_close(found.to(at::kDouble), one.of(exact(linear, x)), 1e-5, one.name, terms);
        }
      }
    }
  }
}

TEST_CASE("linear maps keep NaN, with and without a gradient", "[linear]") {
  torch::nn::Linear linear(3, 4);
  at::Tensor x = at::ones({2, 3});
  x[1][0] = std::numeric_limits<float>::quiet_NaN();
  for (const Case& one : cases) {
    INFO(one.name);
    for (const bool gradient : {false, true}) {
      const at::AutoGradMode mode(gradient);
      const at::Tensor out = apply_linear(linear, x, one.activation);
      CHECK(out[0].isfinite().all().item<bool>());
      CHECK(out[1].isnan().all().item<bool>());
    }
  }
}

TEST_CASE("linear maps take any number of dimensions, strides, no rows, and float64", "[linear]") {
  // Measured over 1,000 seeds, at most: 2.8e-7 where 1e-6 is allowed.
  manual_seed(2);
  torch::nn::Linear linear(6, 4);
  const at::NoGradGuard guard;
  const at::Tensor x = at::randn({3, 5, 6}, generator(1));
  require_close(apply_linear(linear, x), linear->forward(x), 1e-6, "three dimensions");
  require_close(apply_linear(linear, x[0][0]), linear->forward(x[0][0]), 1e-6, "one dimension");
  const at::Tensor strided = at::randn({6, 9}, generator(2)).t();
  require_close(apply_linear(linear, strided), linear->forward(strided), 1e-6, "transposed");
  CHECK(apply_linear(linear, at::empty({0, 6})).sizes() == at::IntArrayRef({0, 4}));
  CHECK_THROWS(apply_linear(linear, at::zeros({2, 5})));
  linear->to(at::kDouble);
  const at::Tensor wide = x.to(at::kDouble);
  require_equal(apply_linear(linear, wide), linear->forward(wide), "float64");
}

TEST_CASE("gradients of linear maps are those of LibTorch's", "[linear]") {
  // Measured: the same bits where 1e-5 is allowed.
  manual_seed(3);
  torch::nn::Linear linear(8, 5);
  const at::Tensor x = at::randn({11, 8}, generator(3)).requires_grad_();
  for (const Case& one : cases) {
    const at::Tensor theirs = at::linear(x, linear->weight, linear->bias);
    const auto of = [&](const at::Tensor& y) {
      x.mutable_grad() = at::Tensor();
      linear->zero_grad();
      y.square().sum().backward();
      return std::vector<at::Tensor>{x.grad().clone(), linear->weight.grad().clone(), linear->bias.grad().clone()};
    };
    const auto found = of(apply_linear(linear, x, one.activation)), wanted = of(one.of(theirs));
    for (size_t i = 0; i < found.size(); ++i) require_close(found[i], wanted[i], 1e-5, one.name);
  }
}

TEST_CASE("linear maps under autocast are of its type, with and without a gradient", "[linear]") {
  // Measured over 1,000 seeds, at most: 5.5e-3 where 0.05 is allowed.
  manual_seed(4);
  torch::nn::Linear linear(64, 96);
  const at::Tensor x = at::randn({40, 64}, generator(4));
  for (const Case& one : cases) {
    const Autocast autocast(at::kCPU, at::kBFloat16);
    const at::Tensor trained = apply_linear(linear, x, one.activation);
    CHECK(trained.scalar_type() == at::kBFloat16);
    const at::NoGradGuard guard;
    for (const at::Tensor& tokens : {x, x.to(at::kBFloat16)}) {
      const at::Tensor found = apply_linear(linear, tokens, one.activation);
      CHECK(found.scalar_type() == at::kBFloat16);
      require_close(found.to(at::kDouble), one.of(exact(linear, x)), 0.05, one.name);
    }
  }
}

TEST_CASE("new weights count as soon as they are there, also in one autocast scope after another", "[linear]") {
  torch::nn::Linear linear(4, 4);
  const at::NoGradGuard guard;
  const at::Tensor x = at::ones({2, 4});
  for (const double value : {1.0, -2.0}) {
    linear->weight.fill_(value);
    linear->bias.zero_();
    require_equal(apply_linear(linear, x), at::full({2, 4}, 4 * value), "float32");
    const Autocast autocast(at::kCPU, at::kBFloat16);
    require_equal(apply_linear(linear, x).to(at::kFloat), at::full({2, 4}, 4 * value), "bfloat16");
  }
}

}  // namespace geosft::test::test_linear
