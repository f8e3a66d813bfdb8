// SPDX-License-Identifier: Apache-2.0
#include "models/training/fused_adamw.h"

#include <torch/optim/adamw.h>

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_fused_adamw {
namespace {

const at::Tensor rate = at::scalar_tensor(0.1, at::kFloat);

std::vector<at::Tensor> some_parameters() {
  std::vector<at::Tensor> parameters;
  for (const int64_t size : {3, 40}) {
    parameters.push_back(
        at::randn({size, 2}, generator(static_cast<uint64_t>(size)), at::kDouble).requires_grad_(true));
  }
  return parameters;
}

void set_gradients(std::vector<at::Tensor>& parameters, uint64_t seed, double scale = 1.0) {
  for (at::Tensor& parameter : parameters) {
    parameter.mutable_grad() = scale * at::randn(parameter.sizes(), generator(++seed), at::kDouble);
  }
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> copied;
  for (const at::Tensor& parameter : parameters) copied.push_back(parameter.detach().clone());
  return copied;
}

}  // namespace

TEST_CASE("fused steps are those of LibTorch's AdamW", "[fused_adamw]") {
  // Measured over 1,000 seeds, at most: 5.5e-8 where 1e-6 is allowed.
  std::vector<at::Tensor> fused = some_parameters(), plain = some_parameters();
  FusedAdamW optimizer(fused, {.beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.3});
  torch::optim::AdamW expected(plain, torch::optim::AdamWOptions(0.1).betas({0.8, 0.95}).weight_decay(0.3));
  for (uint64_t step = 0; step < 20; ++step) {
    set_gradients(fused, 10 * step);
    set_gradients(plain, 10 * step);
    optimizer.step(rate);
    expected.step();
    for (size_t i = 0; i < fused.size(); ++i) {
      REQUIRE_FALSE(fused[i].grad().defined());
      require_close(fused[i].detach(), plain[i].detach(), 1e-6, "step " + std::to_string(step));
    }
  }
}

TEST_CASE("fused steps clip the norm of all gradients", "[fused_adamw]") {
  // Measured over 1,000 seeds, at most: 1.4e-7 where 1e-5 is allowed.
  std::vector<at::Tensor> fused = some_parameters(), plain = some_parameters();
  FusedAdamW optimizer(fused, {.max_gradient_norm = 0.5}), unclipped(plain, {});
  set_gradients(fused, 1);
  set_gradients(plain, 1);
  const double norm = at::cat({plain[0].grad(), plain[1].grad()}).norm().item<double>();
  for (at::Tensor& parameter : plain) parameter.mutable_grad() = parameter.grad() * (0.5 / norm);
  REQUIRE(optimizer.step(rate).item<double>() == Approx(norm));
  REQUIRE(unclipped.step(rate).item<double>() == Approx(0.5));
  require_close(optimizer.moments()[1].first, unclipped.moments()[1].first, 1e-5, "first moment");
}

TEST_CASE("a fused step with gradients that are not finite changes nothing", "[fused_adamw]") {
  std::vector<at::Tensor> parameters = some_parameters();
  FusedAdamW optimizer(parameters, {.weight_decay = 0.1, .max_gradient_norm = 1.0});
  set_gradients(parameters, 1);
  optimizer.step(rate);
  const std::vector<at::Tensor> before = copies(parameters);
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    set_gradients(parameters, 2);
    parameters[0].mutable_grad()[1][1] = wrong;
    REQUIRE_FALSE(std::isfinite(optimizer.step(rate).item<double>()));
    for (size_t i = 0; i < before.size(); ++i) require_equal(parameters[i].detach(), before[i], "parameter");
    REQUIRE(optimizer.moments()[0].steps.item<double>() == 1.0);
  }
}

TEST_CASE("a scaled loss takes the same steps, and a smaller factor after an overflow", "[fused_adamw]") {
  // Measured: the same bits where 1e-6 is allowed.
  std::vector<at::Tensor> scaled = some_parameters(), plain = some_parameters();
  FusedAdamW optimizer(scaled, {.max_gradient_norm = 1.0, .scale_loss = true});
  FusedAdamW expected(plain, {.max_gradient_norm = 1.0});
  REQUIRE(expected.scaled(at::ones({})).item<double>() == 1.0);
  REQUIRE(optimizer.scaled(at::ones({})).item<double>() == 65536.0);
  set_gradients(scaled, 1, 65536.0);
  set_gradients(plain, 1);
  REQUIRE(optimizer.step(rate).item<double>() == Approx(expected.step(rate).item<double>()));
  for (size_t i = 0; i < plain.size(); ++i) require_close(scaled[i].detach(), plain[i].detach(), 1e-6, "parameter");
  set_gradients(scaled, 2, std::numeric_limits<double>::infinity());
  optimizer.step(rate);
  REQUIRE(optimizer.scaled(at::ones({})).item<double>() == 32768.0);
  for (size_t i = 0; i < plain.size(); ++i) require_close(scaled[i].detach(), plain[i].detach(), 1e-6, "kept");
}

TEST_CASE("a fused step without gradients is an error", "[fused_adamw]") {
  FusedAdamW optimizer(some_parameters(), {});
  require_error([&] { optimizer.step(rate); }, {"gradient"});
}

}  // namespace geosft::test::test_fused_adamw
