// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/bench/attention_inputs.h"

namespace geosft::bench::test::test_encoding_benchmarks {
namespace {

// The local tokens of one point of a cloud whose normals are the points, as point_tokens.h states them.
at::Tensor slow_tokens(const at::Tensor& points, int64_t own) {
  const at::Tensor p = points[own], to_centroid = p - points.mean(0);
  std::vector<at::Tensor> tokens{at::ones({}, at::kDouble), to_centroid.norm(),
                                 to_centroid.dot(p) / to_centroid.norm()};
  const at::Tensor order = (points - p).square().sum(1).argsort();
  const auto mean_and_spread = [&](const at::Tensor& values) {
    tokens.push_back(values.mean());
    tokens.push_back(values.var(0, /*unbiased=*/false).clamp_min(1e-8).sqrt());
  };
  for (const int64_t size : {8, 32}) {
    const at::Tensor near = points.index_select(0, order.slice(0, 0, size)), offset = near - p;
    const at::Tensor radius = offset.square().sum(1).mean().sqrt(), scaled = offset / radius;
    const at::Tensor shape = scaled.t().matmul(scaled) / size;
    tokens.insert(tokens.end(),
                  {radius, scaled.mean(0).norm(), shape.matmul(shape).trace(), 27 * at::linalg_det(shape)});
    mean_and_spread(near.matmul(p));
    mean_and_spread(scaled.matmul(p));
  }
  return at::stack(tokens);
}

}  // namespace

TEST_CASE("normals of both implementations are the same up to their sign", "[bench]") {
  Sizes sizes = small_sizes();
  sizes.tokens = 200;
  const Benchmark benchmark = chosen_entries(encoding_entries(sizes), {"estimate_normals"}).front().make();
  REQUIRE(benchmark.implementations.size() == 2);
  const at::Tensor ours = benchmark.implementations[0].run()[0], theirs = benchmark.implementations[1].run()[0];
  CHECK(((ours * theirs).sum(1).abs() - 1).abs().max().item<double>() < 1e-3);
}

TEST_CASE("sinusoids are those of one item's tokens, number by number", "[bench]") {
  const Benchmark benchmark = chosen_entries(encoding_entries(small_sizes()), {"sinusoids"}).front().make();
  at::Tensor expected = at::zeros({37, 12}, at::kDouble);
  for (int64_t i = 0; i < 37; ++i) {
    for (int64_t c = 0; c < 12; ++c) {
      const double angle = static_cast<double>(i) / std::pow(10000.0, static_cast<double>(c / 2) / 12);
      expected[i][c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  geosft::test::require_close(benchmark.implementations[0].run()[0], expected, 1e-5, "sinusoids");
}

TEST_CASE("tokens of points are those of their neighbourhoods, point by point", "[bench]") {
  const Benchmark benchmark = chosen_entries(encoding_entries(small_sizes()), {"point_tokens"}).front().make();
  const at::Tensor found = benchmark.implementations[0].run()[0];
  REQUIRE(found.sizes() == at::IntArrayRef({74, 19}));
  // The benchmark's points, unit vectors that are their own normals.
  const at::Tensor normals = normal({74, 3}, generator_of(small_sizes())).to(at::kDouble);
  const at::Tensor points = normals / normals.norm(2, 1, true);
  for (const int64_t point : {0, 36, 37, 73}) {
    INFO("point " << point);
    geosft::test::require_close(
        found[point], slow_tokens(points.slice(0, point / 37 * 37, point / 37 * 37 + 37), point % 37), 1e-4, "tokens");
  }
}

}  // namespace geosft::bench::test::test_encoding_benchmarks
