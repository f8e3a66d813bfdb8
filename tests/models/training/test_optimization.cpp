// SPDX-License-Identifier: Apache-2.0
#include "models/training/optimization.h"

#include <ATen/core/grad_mode.h>
#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "models/layers/normalization.h"
#include "tests/support.h"

namespace geosft::test::test_optimization {
namespace {

torch::nn::Linear model() {
  manual_seed(1);
  torch::nn::Linear made(3, 2);
  made->to(at::kDouble);
  return made;
}

// A gradient that differs from step to step.
void set_gradients(torch::nn::Linear& linear, int64_t step, double scale = 1.0) {
  uint64_t seed = 10 * static_cast<uint64_t>(step);
  for (at::Tensor& parameter : linear->parameters()) {
    parameter.mutable_grad() = scale * at::randn(parameter.sizes(), generator(++seed), at::kDouble);
  }
}

at::Tensor weights(torch::nn::Linear& linear) {
  return at::cat({linear->weight.detach().flatten(), linear->bias.detach()}).clone();
}

at::Tensor gradients(torch::nn::Linear& linear) {
  return at::cat({linear->weight.grad().flatten(), linear->bias.grad()});
}

std::map<std::string, at::Tensor> copy_of(const std::map<std::string, at::Tensor>& state) {
  std::map<std::string, at::Tensor> copy;
  for (const auto& [name, tensor] : state) copy[name] = tensor.clone();
  return copy;
}

}  // namespace

TEST_CASE("steps are those of AdamW with clipping, written out", "[optimization]") {
  OptimizationOptions options{
      .learning_rate = 0.1, .weight_decay = 0.3, .beta1 = 0.8, .beta2 = 0.95, .decay_every = 1, .decay = 0.5};
  for (const double limit : {1.0, 0.0}) {
    options.max_gradient_norm = limit;
    torch::nn::Linear linear = model();
    Optimization optimization(*linear, options);
    at::Tensor w = weights(linear), m = at::zeros_like(w), v = at::zeros_like(w);
    for (int64_t step = 0; step < 60; ++step) {
      set_gradients(linear, step);
      at::Tensor g = gradients(linear).clone();
      const double norm = g.norm().item<double>(), epoch = static_cast<double>(step) / 20;
      if (limit > 0 && norm > limit) g = g * (limit / norm);
      REQUIRE(optimization.step(epoch) == Approx(norm).epsilon(1e-12));
      const double rate = 0.1 * std::min(1.0, 0.025 * (step + 1)) * std::pow(0.5, std::floor(epoch));
      REQUIRE(optimization.learning_rate() == Approx(rate).epsilon(1e-12));
      m = 0.8 * m + 0.2 * g;
      v = 0.95 * v + 0.05 * g * g;
      const at::Tensor direction =
          (m / (1 - std::pow(0.8, step + 1))) / ((v / (1 - std::pow(0.95, step + 1))).sqrt() + 1e-8);
      w = w * (1 - rate * 0.3) - rate * direction;
    }
    // Clipping divides by the norm plus 1e-6.
    require_close(weights(linear), w, limit > 0 ? 1e-6 : 1e-12, "weights");
    REQUIRE(optimization.steps() == 60);
  }
}

TEST_CASE("the rate warms up, then decays in steps or along a cosine", "[optimization]") {
  OptimizationOptions options{.learning_rate = 2.0, .beta2 = 0.99, .decay_every = 30, .decay = 0.8, .epochs = 40};
  CHECK(scheduled_rate(options, 0, 0) == Approx(0.01));
  CHECK(scheduled_rate(options, 99, 0) == Approx(1.0));
  CHECK(scheduled_rate(options, 199, 0) == Approx(2.0));
  CHECK(scheduled_rate(options, 5000, 29.99) == Approx(2.0));
  CHECK(scheduled_rate(options, 5000, 30) == Approx(1.6));
  CHECK(scheduled_rate(options, 5000, 65) == Approx(1.28));
  options.schedule = Schedule::cosine;
  CHECK(scheduled_rate(options, 5000, 0) == Approx(2.0));
  CHECK(scheduled_rate(options, 5000, 10) == Approx(1 + std::numbers::sqrt2 / 2));
  CHECK(scheduled_rate(options, 5000, 40) == Approx(0.0).margin(1e-12));
  CHECK(scheduled_rate(options, 5000, 50) == Approx(0.0).margin(1e-12));
}

TEST_CASE("a step clears the gradients", "[optimization]") {
  torch::nn::Linear linear = model();
  Optimization optimization(*linear, {});
  set_gradients(linear, 0);
  optimization.step(0);
  REQUIRE_FALSE((linear->weight.grad().defined() && linear->weight.grad().abs().sum().item<double>() > 0));
}

TEST_CASE("a gradient that is not finite leaves everything as it was", "[optimization]") {
  torch::nn::Linear linear = model();
  Optimization optimization(*linear, {.average_decay = 0.9});
  set_gradients(linear, 0);
  optimization.step(0);
  const at::Tensor before = weights(linear);
  const auto state = copy_of(optimization.state());
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    set_gradients(linear, 1);
    linear->bias.mutable_grad()[1] = bad;
    REQUIRE_FALSE(std::isfinite(optimization.step(0)));
    require_equal(weights(linear), before, "weights");
    REQUIRE(optimization.steps() == 1);
    for (const auto& [name, tensor] : optimization.state()) require_equal(tensor, state.at(name), name);
  }
}

TEST_CASE("averaged weights are the running average, and only while asked for", "[optimization]") {
  // Measured over 1,000 seeds, at most: 2.7e-16 where 1e-12 is allowed.
  torch::nn::Linear linear = model();
  Optimization optimization(*linear, {.learning_rate = 0.5, .beta2 = 0.5, .average_decay = 0.6});
  at::Tensor average = weights(linear);
  for (int64_t step = 0; step < 20; ++step) {
    set_gradients(linear, step);
    optimization.step(0);
    const double keep = std::min(0.6, (2.0 + static_cast<double>(step)) / (11.0 + static_cast<double>(step)));
    average = keep * average + (1 - keep) * weights(linear);
  }
  const at::Tensor current = weights(linear);
  {
    const Optimization::AveragedWeights averaged(optimization);
    require_close(weights(linear), average, 1e-12, "average");
  }
  require_equal(weights(linear), current, "weights");
  Optimization plain(*linear, {});
  const Optimization::AveragedWeights nothing(plain);
  require_equal(weights(linear), current, "without an average");
}

TEST_CASE("running statistics are averaged with the weights that they belong to", "[optimization]") {
  // A linear map whose weights keep growing, and the statistics of what it returns.
  struct Net : torch::nn::Module {
    torch::nn::Linear linear = register_module("linear", torch::nn::Linear(4, 4));
    PackedBatchNorm norm = register_module("norm", PackedBatchNorm(4));
  };
  const at::Tensor x = at::randn({200, 4}, generator(1));
  for (const bool fused : {false, true}) {
    manual_seed(1);
    Net net;
    const auto forward = [&] {
      SamplingContext context = SamplingContext::greedy();
      return net.norm->forward(net.linear->forward(x), context);
    };
    Optimization optimization(
        net, {.learning_rate = 0.2, .weight_decay = 0.0, .beta2 = 0.9, .average_decay = 0.95, .fused = fused});
    net.train();
    for (int64_t step = 0; step < 60; ++step) {
      forward();
      for (at::Tensor& parameter : net.parameters()) parameter.mutable_grad() = at::zeros_like(parameter);
      net.linear->weight.mutable_grad() = -at::ones_like(net.linear->weight);
      optimization.step(0);
    }
    net.eval();
    const at::Tensor current = net.norm->running_var.clone();
    const Optimization::AveragedWeights averaged(optimization);
    REQUIRE((net.norm->running_var < 0.8 * current).all().item<bool>());
    const double deviation = forward().detach().std(0).mean().item<double>();
    INFO("deviation of normalised channels " << deviation);
    CHECK(deviation > 0.8);
    CHECK(deviation < 1.25);
    std::map<std::string, at::Tensor> earlier = copy_of(optimization.state());
    REQUIRE(earlier.erase("average.norm.running_mean") + earlier.erase("average.norm.running_var") == 2);
    Optimization resumed(net, {.beta2 = 0.9, .average_decay = 0.95, .fused = fused});
    resumed.load_state(earlier);
    require_equal(resumed.state().at("average.norm.running_var"), net.norm->running_var, "of an earlier version");
  }
}

TEST_CASE("a saved state goes on bit for bit", "[optimization]") {
  const OptimizationOptions options{.learning_rate = 0.1, .average_decay = 0.9};
  torch::nn::Linear linear = model();
  Optimization optimization(*linear, options);
  const auto advance = [](Optimization& now, torch::nn::Linear& target, int64_t from, int64_t to) {
    for (int64_t step = from; step < to; ++step) {
      set_gradients(target, step);
      now.step(0.1 * static_cast<double>(step));
    }
  };
  advance(optimization, linear, 0, 5);
  const auto state = copy_of(optimization.state());
  torch::nn::Linear other = model();
  {
    at::NoGradGuard guard;
    other->weight.copy_(linear->weight);
    other->bias.copy_(linear->bias);
  }
  Optimization resumed(*other, options);
  resumed.load_state(state);
  REQUIRE(resumed.steps() == 5);
  advance(optimization, linear, 5, 12);
  advance(resumed, other, 5, 12);
  require_equal(weights(other), weights(linear), "weights");
  for (const auto& [name, tensor] : optimization.state()) require_equal(resumed.state().at(name), tensor, name);
}

TEST_CASE("a state without moments for unused parameters loads, a wrong one does not", "[optimization]") {
  torch::nn::Linear linear = model();
  Optimization optimization(*linear, {});
  linear->weight.mutable_grad() = at::ones_like(linear->weight);  // the bias never has a gradient
  optimization.step(0);
  const auto state = copy_of(optimization.state());
  REQUIRE(state.count("first_moment.bias") == 0);
  torch::nn::Linear other = model();
  Optimization resumed(*other, {});
  resumed.load_state(state);
  require_equal(resumed.state().at("second_moment.weight"), state.at("second_moment.weight"), "moment");
  auto other_numbers = state;
  for (auto& [name, tensor] : other_numbers) tensor = tensor + 1;
  auto broken = other_numbers;
  broken.erase("second_moment.weight");
  require_error([&] { resumed.load_state(broken); }, {"second_moment.weight"});
  broken = other_numbers;
  broken["first_moment.weight"] = at::zeros({2, 2}, at::kDouble);
  require_error([&] { resumed.load_state(broken); }, {"first_moment.weight", "[2, 2]", "[2, 3]"});
  broken = other_numbers;
  broken.erase("steps");
  require_error([&] { resumed.load_state(broken); }, {"steps"});
  for (const auto& [name, tensor] : state) {  // what did not fit has changed nothing
    require_equal(resumed.state().at(name), tensor, name);
  }
  Optimization averaging(*other, {.average_decay = 0.5});
  require_error([&] { averaging.load_state(state); }, {"average.weight"});
}

TEST_CASE("a warm-up in epochs comes before the cosine", "[optimization]") {
  const OptimizationOptions options{
      .learning_rate = 2.0, .beta2 = 0.99, .schedule = Schedule::cosine, .epochs = 25, .warmup_epochs = 5};
  REQUIRE(scheduled_rate(options, 0, 0) == Approx(2e-6));
  REQUIRE(scheduled_rate(options, 1, 1.0) == Approx(0.4));
  REQUIRE(scheduled_rate(options, 1, 5.0) == Approx(2.0));
  REQUIRE(scheduled_rate(options, 1, 15.0) == Approx(1.0));
  REQUIRE(scheduled_rate(options, 1, 25.0) == Approx(0.0).margin(1e-12));
  OptimizationOptions longer = options;
  longer.warmup_epochs = 30;
  REQUIRE(scheduled_rate(longer, 1, 15.0) == Approx(1.0));
}

TEST_CASE("the head has a learning rate of its own", "[optimization]") {
  // Measured over 1,000 seeds, at most: 9.2e-10 where 1e-6 is allowed, and the same bits where 1e-12 is allowed.
  for (const bool fused : {false, true}) {
    torch::nn::Linear body = model(), head = model(), plain_body = model(), plain_head = model();
    torch::nn::Module both, plain;
    both.register_module("embed", body);
    both.register_module("pool_head", head);
    plain.register_module("embed", plain_body);
    plain.register_module("pool_head", plain_head);
    OptimizationOptions options{.learning_rate = 0.1, .weight_decay = 0.3, .max_gradient_norm = 0.0, .fused = fused};
    Optimization expected_body(plain, options);
    options.head_rate_factor = 5.0;
    Optimization optimization(both, options);
    options.head_rate_factor = 1.0;
    options.learning_rate = 0.5;
    torch::nn::Linear fast = model();
    Optimization expected_head(*fast, options);
    for (int64_t step = 0; step < 10; ++step) {
      for (torch::nn::Linear linear : {body, head, plain_body, plain_head, fast}) set_gradients(linear, step);
      optimization.step(0);
      expected_body.step(0);
      expected_head.step(0);
    }
    require_close(weights(body), weights(plain_body), 1e-12, "body");
    require_close(weights(head), weights(fast), 1e-6, "head");
    REQUIRE_FALSE(at::allclose(weights(head), weights(plain_head)));
  }
}

TEST_CASE("parameters without a gradient stay as they are", "[optimization]") {
  torch::nn::Linear linear = model();
  linear->weight.set_requires_grad(false);
  const at::Tensor before = linear->weight.clone(), bias = linear->bias.detach().clone();
  Optimization optimization(*linear, {.learning_rate = 0.1, .weight_decay = 0.3, .average_decay = 0.5});
  linear->bias.mutable_grad() = at::ones({2}, at::kDouble);
  optimization.step(0);
  const Optimization::AveragedWeights averaged(optimization);
  require_equal(linear->weight, before, "weight");
  REQUIRE_FALSE(at::equal(linear->bias, bias));
}

}  // namespace geosft::test::test_optimization
