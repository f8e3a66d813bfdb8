// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_tokens.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "geometry/rotation.h"
#include "models/ops/shape_context.h"
#include "models/training/autocast.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_point_tokens {
namespace {

const std::vector<PointTokens> kKinds{PointTokens::ones,          PointTokens::radial, PointTokens::local,
                                      PointTokens::shape_context, PointTokens::ppf,    PointTokens::absolute,
                                      PointTokens::absolute_local};

}  // namespace

TEST_CASE("tokens have the channels that are announced", "[point_tokens]") {
  const at::Tensor points = normal({50, 3}, 1), normals = unit(normal({50, 3}, 2));
  for (const PointTokens kind : kKinds) {
    for (const bool with : {false, true}) {
      const at::Tensor tokens = point_tokens(kind, points, with ? normals : at::Tensor(), std::nullopt);
      REQUIRE(tokens.sizes() == at::IntArrayRef({50, point_token_channels(kind, with)}));
      REQUIRE(at::isfinite(tokens).all().item<bool>());
    }
  }
  require_error([] { point_tokens(PointTokens::ones, at::zeros({4, 2}), {}, std::nullopt); }, {"points", "[4, 2]"});
}

TEST_CASE("ones, radial and absolute tokens are what their names say", "[point_tokens]") {
  // Measured: the same bits where 1e-14 is allowed.
  const at::Tensor points = at::tensor({3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 5.0, 5.0, 5.0}, at::kDouble).view({3, 3});
  const at::Tensor normals = at::tensor({0.6, 0.8, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0}, at::kDouble).view({3, 3});
  const at::Tensor ptr = at::tensor({0, 2, 2, 3}, at::kLong);
  require_equal(point_tokens(PointTokens::ones, points, normals, ptr), at::ones({3, 1}, at::kDouble), "ones");
  // Centroids (2, 0, 0) and the third point itself, from which no direction leads to it.
  require_close(point_tokens(PointTokens::radial, points, normals, ptr),
                at::tensor({1.0, 1.0, 0.6, 1.0, 1.0, -1.0, 1.0, 0.0, 0.0}, at::kDouble).view({3, 3}), 1e-14, "radial");
  require_equal(point_tokens(PointTokens::absolute, points, normals, ptr), at::cat({points, normals}, 1), "absolute");
  require_equal(point_tokens(PointTokens::absolute, points, {}, ptr), points, "absolute without normals");
  require_equal(point_tokens(PointTokens::absolute_local, points, normals, ptr),
                at::cat({points, normals, point_tokens(PointTokens::local, points, normals, ptr)}, 1), "both");
}

TEST_CASE("shape contexts follow the local tokens", "[point_tokens]") {
  const at::Tensor points = normal({40, 3}, 13), normals = unit(normal({40, 3}, 14));
  const at::Tensor ptr = at::tensor({0, 15, 40}, at::kLong);
  require_equal(
      point_tokens(PointTokens::shape_context, points, normals, ptr),
      at::cat({point_tokens(PointTokens::local, points, normals, ptr), shape_context(points, normals, ptr)}, 1),
      "tokens");
}

TEST_CASE("ppf begins with the local tokens, which the model's own follow", "[point_tokens]") {
  const at::Tensor points = normal({40, 3}, 11), normals = unit(normal({40, 3}, 12));
  std::vector<at::Tensor> neighbourhoods;
  require_equal(point_tokens(PointTokens::ppf, points, normals, std::nullopt, &neighbourhoods),
                point_tokens(PointTokens::local, points, normals, std::nullopt), "tokens");
  REQUIRE(neighbourhoods.size() == 2);
}

TEST_CASE("rotation and translation change absolute tokens alone", "[point_tokens]") {
  // Measured over 1,000 seeds, at most: 3.7e-15 where 1e-10 is allowed.
  const at::Tensor points = normal({70, 3}, 3), normals = unit(normal({70, 3}, 4));
  const at::Tensor ptr = at::tensor({0, 20, 21, 70}, at::kLong);
  const at::Tensor rotation = random_rotation(generator(5), at::kDouble);
  const at::Tensor moved = rotate(points, rotation) + at::tensor({1.0, -2.0, 0.5}, at::kDouble);
  for (const PointTokens kind : kKinds) {
    const at::Tensor before = point_tokens(kind, points, normals, ptr);
    const at::Tensor after = point_tokens(kind, moved, rotate(normals, rotation), ptr);
    if (kind == PointTokens::absolute || kind == PointTokens::absolute_local) {
      REQUIRE((after - before).abs().max().item<double>() > 0.1);
    } else {
      require_close(after, before, 1e-10, "moved");
    }
  }
}

TEST_CASE("local tokens tell a line from a surface from a volume", "[point_tokens]") {
  const at::Tensor cloud = at::rand({300, 3}, generator(6), at::kDouble);
  const auto means = [&](const std::vector<double>& extent) {
    const at::Tensor points = cloud * at::tensor(extent, at::kDouble);
    return point_tokens(PointTokens::local, points, {}, std::nullopt).mean(0);
  };
  const at::Tensor line = means({1, 0, 0}), surface = means({1, 1, 0}), volume = means({1, 1, 1});
  // After 1 and the distance to the centroid, at each of two scales: radius, imbalance, trace of C^2, determinant.
  for (const int64_t first : {2, 6}) {
    const auto value = [&](const at::Tensor& tokens, int64_t channel) {
      return tokens[first + channel].item<double>();
    };
    CHECK(value(line, 2) == Approx(1).epsilon(1e-6));
    CHECK(value(surface, 2) < 0.85);
    CHECK(value(volume, 2) < value(surface, 2) - 0.05);
    CHECK(std::abs(value(surface, 3)) < 1e-9);
    CHECK(value(volume, 3) > 0.1);
  }
  CHECK(line[6].item<double>() > line[2].item<double>());
}

TEST_CASE("tokens of a cloud do not depend on what else is in the batch", "[point_tokens]") {
  // Measured: the same bits where 1e-12 is allowed.
  const at::Tensor points = normal({60, 3}, 7), normals = unit(normal({60, 3}, 8));
  const at::Tensor ptr = at::tensor({0, 5, 45, 60}, at::kLong);
  for (const PointTokens kind : kKinds) {
    const at::Tensor alone = point_tokens(kind, points.slice(0, 5, 45), normals.slice(0, 5, 45), std::nullopt);
    require_close(point_tokens(kind, points, normals, ptr).slice(0, 5, 45), alone, 1e-12, "cloud");
  }
}

TEST_CASE("the kernel of local tokens computes what LibTorch's operators do", "[point_tokens]") {
  // Measured over 1,000 seeds, at most: 1.1e-15 where 1e-10 is allowed, and 2.5e-7 where 0.001 is allowed.
  const at::Tensor points = normal({353, 3}, 21), normals = unit(normal({353, 3}, 22));
  const at::Tensor ptr =
      at::tensor({0, 300, 300, 301, 313, 353}, at::kLong);  // of these, three are short of neighbours
  const at::Tensor flat = points * at::tensor({1.0, 1.0, 0.0}, at::kDouble), equal = points * 0;
  for (const at::Tensor& cloud : {points, flat, equal}) {
    for (const at::Tensor& with : {normals, at::Tensor()}) {
      const int64_t first = point_token_channels(PointTokens::radial, with.defined());
      std::vector<at::Tensor> neighbourhoods;
      const at::Tensor found = point_tokens(PointTokens::local, cloud, with, ptr, &neighbourhoods).slice(1, first);
      require_close(found, composite_neighbourhoods(cloud, with, neighbourhoods[1]), 1e-10, "float64");
      const at::Tensor narrow = with.defined() ? with.to(at::kFloat) : with;
      require_close(point_tokens(PointTokens::local, cloud.to(at::kFloat), narrow, ptr).slice(1, first).to(at::kDouble),
                    found, 1e-3, "float32");
    }
  }
}

TEST_CASE("tokens have the gradients of their formulas in the points and normals", "[point_tokens]") {
  // Two points, of which each is the only neighbour of the other, and nine.
  const at::Tensor points = normal({11, 3}, 31), normals = unit(normal({11, 3}, 32));
  const at::Tensor ptr = at::tensor({0, 2, 2, 11}, at::kLong);
  for (const PointTokens kind : kKinds) {
    if (kind == PointTokens::ones) continue;  // it has none
    const auto with = [&](const std::vector<at::Tensor>& in) {
      return point_tokens(kind, in[0], in.size() > 1 ? in[1] : at::Tensor(), ptr);
    };
    // Contexts have kinks at their nodes, which a small step rarely meets.
    require_gradcheck(with, {points}, 1e-7);
    require_gradcheck(with, {points, normals}, 1e-7);
    const at::Tensor constant = with({points.to(at::kFloat), normals.to(at::kFloat)});
    const at::Tensor tracked = points.to(at::kFloat).requires_grad_(true);
    require_equal(with({tracked, normals.to(at::kFloat)}).detach(), constant, "the same bits with a gradient");
    if (kind == PointTokens::radial || kind == PointTokens::local || kind == PointTokens::shape_context) {
      require_no_double_backward(with, {points, normals}, "point_tokens");
    }
  }
}

TEST_CASE("tokens of equal points have finite gradients", "[point_tokens]") {
  for (const PointTokens kind : kKinds) {
    at::Tensor points = at::ones({5, 3}, at::kDouble).requires_grad_(true);
    at::Tensor normals = unit(normal({5, 3}, 33)).requires_grad_(true);
    const at::Tensor sum = point_tokens(kind, points, normals, std::nullopt).sum();
    if (!sum.requires_grad()) continue;
    sum.backward();
    CHECK((points.grad().isfinite().all().item<bool>() && normals.grad().isfinite().all().item<bool>()));
  }
}

TEST_CASE("the neighbourhoods of local tokens are given when asked for", "[point_tokens]") {
  const at::Tensor points = normal({12, 3}, 9);
  std::vector<at::Tensor> neighbourhoods;
  point_tokens(PointTokens::radial, points, {}, std::nullopt, &neighbourhoods);
  REQUIRE(neighbourhoods.empty());
  point_tokens(PointTokens::local, points, {}, std::nullopt, &neighbourhoods);
  REQUIRE(neighbourhoods.size() == 2);
  REQUIRE(neighbourhoods[0].sizes() == at::IntArrayRef({12, 8}));
  REQUIRE(neighbourhoods[1].sizes() == at::IntArrayRef({12, 32}));
  require_equal(neighbourhoods[0].select(1, 0), at::arange(12), "a point is its own first neighbour");
  require_equal(neighbourhoods[1].slice(1, 12, 32), at::full({12, 20}, -1, at::kLong), "no more than there are");
}

TEST_CASE("tokens of equal points and of one point are finite", "[point_tokens]") {
  for (const int64_t n : {1, 40}) {
    const at::Tensor points = at::full({n, 3}, 0.7), normals = unit(at::ones({n, 3}));
    for (const PointTokens kind : kKinds) {
      REQUIRE(at::isfinite(point_tokens(kind, points, normals, std::nullopt)).all().item<bool>());
    }
  }
}

TEST_CASE("invariant tokens have the same bits inside autocast") {
  const at::Tensor points = at::randn({90, 3}, generator(71)), rows = at::randn({90, 3}, generator(72));
  const at::Tensor normals = rows / rows.norm(2, 1, true), ptr = at::tensor({0, 40, 90}, at::kLong);
  for (const PointTokens kind : {PointTokens::radial, PointTokens::local, PointTokens::shape_context}) {
    const at::Tensor expected = point_tokens(kind, points, normals, ptr);
    const Autocast autocast(at::kCPU, at::kBFloat16);
    require_equal(point_tokens(kind, points, normals, ptr), expected, "tokens");
  }
}

}  // namespace geosft::test::test_point_tokens
