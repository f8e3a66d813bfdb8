// SPDX-License-Identifier: Apache-2.0
#include "models/layers/point_pair_tokens.h"

#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>

#include "geometry/rotation.h"
#include "models/ops/point_pair_features.h"
#include "models/ops/point_tokens.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_point_pair_tokens {
namespace {

struct Clouds {
  at::Tensor points = normal({70, 3}, 1), normals, ptr = at::tensor({0, 20, 21, 70}, at::kLong);

  Clouds() {
    const at::Tensor rows = normal({70, 3}, 2);
    normals = rows / rows.norm(2, 1, true);
  }
  std::vector<at::Tensor> neighbourhoods() const {
    std::vector<at::Tensor> found;
    point_tokens(PointTokens::ppf, points, normals, ptr, &found);
    return found;
  }
  at::Tensor tokens(PointPairTokens& module) const { return module->forward(points, normals, ptr, neighbourhoods()); }
};

PointPairTokens module_of(const PointPairTokensOptions& options = {}) {
  manual_seed(3);
  PointPairTokens made(options);
  made->to(at::kDouble);
  return made;
}

}  // namespace

TEST_CASE("learned tokens are the maximum of a network over the neighbours", "[point_pair_tokens]") {
  // Measured: the same bits where 1e-12 is allowed.
  const Clouds clouds;
  PointPairTokens module = module_of({.width = 5});
  const at::Tensor tokens = clouds.tokens(module);
  REQUIRE(tokens.sizes() == at::IntArrayRef({70, 10}));
  const std::vector<at::Tensor> all = clouds.neighbourhoods();
  // All seven others of the nearest eight points, and every second of the 31 others.
  const std::vector<at::Tensor> used{all[0].slice(1, 1, 8), all[1].slice(1, 1, 32, 2)};
  for (size_t scale = 0; scale < 2; ++scale) {
    const auto& network = *module->networks[scale]->as<torch::nn::Sequential>();
    const at::Tensor features = point_pair_features(clouds.points, clouds.normals, used[scale], clouds.ptr);
    const auto weight = [&](const char* name) { return module->named_parameters()[name]; };
    REQUIRE(network.size() == 3);
    const std::string prefix = "networks." + std::to_string(scale) + ".";
    const at::Tensor hidden =
        at::relu(at::matmul(features, weight((prefix + "0.weight").c_str()).t()) + weight((prefix + "0.bias").c_str()));
    const at::Tensor out =
        at::matmul(hidden, weight((prefix + "2.weight").c_str()).t()) + weight((prefix + "2.bias").c_str());
    const auto first = static_cast<int64_t>(scale) * 5;
    require_close(tokens.slice(1, first, first + 5), std::get<0>(out.max(1)), 1e-12, prefix);
  }
}

TEST_CASE("learned tokens do not depend on the pose, the order or the batch", "[point_pair_tokens]") {
  // Measured over 1,000 seeds, at most: 4.0e-16 where 1e-11 is allowed, and 4.0e-15 where 1e-9 is allowed.
  const Clouds clouds;
  PointPairTokens module = module_of();
  const at::Tensor tokens = clouds.tokens(module);
  Clouds moved = clouds;
  const at::Tensor rotation = random_rotation(generator(5), at::kDouble);
  const at::Tensor order = at::cat({at::arange(20).flip(0), at::tensor({20}, at::kLong), at::arange(21, 70).flip(0)});
  moved.points = (rotate(clouds.points, rotation) + 2).index_select(0, order);
  moved.normals = rotate(clouds.normals, rotation).index_select(0, order);
  require_close(moved.tokens(module), tokens.index_select(0, order), 1e-9, "moved");
  Clouds last = clouds;
  last.points = clouds.points.slice(0, 21);
  last.normals = clouds.normals.slice(0, 21);
  last.ptr = at::tensor({0, 49}, at::kLong);
  require_close(last.tokens(module), tokens.slice(0, 21), 1e-11, "alone");
}

TEST_CASE("the weights of learned tokens have gradients", "[point_pair_tokens]") {
  const Clouds clouds;
  PointPairTokens module = module_of({.width = 3});
  const at::Tensor grad_output = normal({70, 6}, 6);
  (clouds.tokens(module) * grad_output).sum().backward();
  const at::NoGradGuard guard;
  for (const auto& parameter : module->named_parameters()) {
    const at::Tensor values = parameter.value().flatten(), gradient = parameter.value().grad().flatten();
    for (int64_t i = 0; i < std::min<int64_t>(values.numel(), 6); ++i) {
      const auto moved = [&](double by) {
        values[i] += by;
        const double sum = (clouds.tokens(module) * grad_output).sum().item<double>();
        values[i] -= by;
        return sum;
      };
      INFO(parameter.key() << " " << i);
      const double numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
      CHECK(gradient[i].item<double>() == Approx(numeric).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("errors of learned tokens name the option or the argument", "[point_pair_tokens]") {
  const Clouds clouds;
  require_error([] { PointPairTokens(PointPairTokensOptions{.width = 0}); }, {"width", "0"});
  require_error([] { PointPairTokens(PointPairTokensOptions{.scales = 0}); }, {"scales", "0"});
  require_error([] { PointPairTokens(PointPairTokensOptions{.max_neighbours = 0}); }, {"max_neighbours", "0"});
  PointPairTokens three = module_of({.scales = 3});
  require_error([&] { clouds.tokens(three); }, {"neighbourhoods", "3", "2"});
}

}  // namespace geosft::test::test_point_pair_tokens
