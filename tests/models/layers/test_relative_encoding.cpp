// SPDX-License-Identifier: Apache-2.0
#include "models/layers/relative_encoding.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"

namespace geosft::test::test_relative_encoding {

TEST_CASE("sinusoids reproduce the golden case", "[relative_encoding]") {
  // Measured: 2.1e-15 where 1e-10 is allowed, and 3.0e-8 where 5e-6 is allowed.
  const Fixture fixture("sinusoid");
  const int64_t n = fixture.get("n").item<int64_t>(), d = fixture.get("d").item<int64_t>();
  require_close(sinusoids(n, d, at::kDouble), fixture.get("out"), 1e-10, "float64");
  const at::Tensor narrow = sinusoids(n, d, at::kFloat);
  REQUIRE(narrow.scalar_type() == at::kFloat);
  require_close(narrow, fixture.get("out"), 5e-6, "float32");
}

TEST_CASE("sinusoids of an odd width end with a sine", "[relative_encoding]") {
  const at::Tensor s = sinusoids(1000, 3, at::kDouble);
  REQUIRE(s[999][2].item<double>() == Approx(std::sin(999 / std::pow(10000.0, 1.0 / 3.0))).margin(1e-10));
  REQUIRE(s[999][1].item<double>() == Approx(std::cos(999.0)).margin(1e-12));
  REQUIRE(sinusoids(0, 4).numel() == 0);
  REQUIRE(sinusoids(2, 4).scalar_type() == at::kFloat);
  require_error([] { sinusoids(-1, 4); }, {"n >= 0", "-1"});
  require_error([] { sinusoids(4, 0); }, {"width >= 1", "0"});
}

TEST_CASE("distance features are the square and Gaussians over the range", "[relative_encoding]") {
  // Measured: 7.4e-7 where 1e-5 is allowed, and the same bits where 1e-12 is allowed.
  const at::Tensor squared = at::tensor({0.0, 1.0, 4.0, 9.0}, at::kDouble);
  const at::Tensor found = distance_features(squared, 4, 2.0);
  REQUIRE(found.sizes() == at::IntArrayRef({4, 4}));
  require_close(found.select(1, 0), squared / 4, 1e-12, "square");
  for (int64_t i = 0; i < 3; ++i) {
    const at::Tensor expected = (-(squared.sqrt() - static_cast<double>(i)).square()).exp();
    require_close(found.select(1, i + 1), expected, 1e-5, "Gaussian");
  }
  REQUIRE(distance_features(squared, 1, 2.0).sizes() == at::IntArrayRef({4, 1}));
  REQUIRE(distance_features(squared, 2, 2.0).isfinite().all().item<bool>());
  require_error([&] { distance_features(squared, 0, 2.0); }, {"channels", "0"});
  require_error([&] { distance_features(squared, 2, 0.0); }, {"range"});
}

TEST_CASE("angle features are the mean cosines of the angles between edges and a line", "[relative_encoding]") {
  const at::Tensor rowptr = at::tensor({0, 3, 5, 6, 6, 8, 9}, at::kLong);
  const at::Tensor col = at::tensor({1, 1, 4, 0, 2, 5, 2, 3, 5}, at::kLong);  // a double edge, and a loop
  const at::Tensor x = at::randn({6, 3}, generator(1), at::kDouble), keys = x.index_select(0, col);
  const EdgeDirections all = edge_directions(x, rowptr, col);
  const at::Tensor found =
      angle_features(x, all, keys, {all.mean.index_select(0, col), all.products.index_select(0, col)});
  const auto cosine = [](const at::Tensor& a, const at::Tensor& b) {
    const double length = (a.norm() * b.norm()).item<double>();
    return length < 1e-5 ? 0.0 : (a * b).sum().item<double>() / length;
  };
  const auto edges_of = [&](int64_t node) {
    std::vector<at::Tensor> out;
    for (int64_t e = rowptr[node].item<int64_t>(); e < rowptr[node + 1].item<int64_t>(); ++e)
      out.push_back(x[col[e].item<int64_t>()] - x[node]);
    return out;
  };
  at::Tensor expected = at::zeros({6, 9, angle_channels}, at::kDouble);
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t k = 0; k < 9; ++k) {
      const auto j = col[k].item<int64_t>();
      const std::vector<at::Tensor> of_i = edges_of(i), of_j = edges_of(j);
      const auto add = [&](int64_t channel, double value, size_t count) {
        expected[i][k][channel] += value / static_cast<double>(count);
      };
      for (const at::Tensor& edge : of_i) {
        add(0, cosine(edge, x[j] - x[i]), of_i.size());
        add(1, std::pow(cosine(edge, x[j] - x[i]), 2), of_i.size());
        for (const at::Tensor& other : of_j) add(4, cosine(edge, other), of_i.size() * of_j.size());
      }
      for (const at::Tensor& edge : of_j) {
        add(2, cosine(edge, x[i] - x[j]), of_j.size());
        add(3, std::pow(cosine(edge, x[i] - x[j]), 2), of_j.size());
      }
    }
  }
  require_close(found, expected, 1e-10, "angles");
}

TEST_CASE("a relative encoding holds only the members of its kind", "[relative_encoding]") {
  const at::Tensor points = at::rand({4, 3}), rowptr = at::zeros({5}, at::kLong), col = at::empty({0}, at::kLong),
                   edges = at::empty({0, 2});
  REQUIRE(RelativeEncoding::none().kind == RelativeEncodingKind::none);
  const RelativeEncoding cloud = RelativeEncoding::points(points);
  REQUIRE(
      (cloud.kind == RelativeEncodingKind::points && cloud.coordinates.is_same(points) && !cloud.normals.defined()));
  REQUIRE((RelativeEncoding::points(points, points).normals.is_same(points) && !cloud.rowptr.defined()));
  const RelativeEncoding graph = RelativeEncoding::graph(rowptr, col, edges);
  REQUIRE((graph.kind == RelativeEncodingKind::graph && graph.rowptr.is_same(rowptr) && graph.col.is_same(col)));
  REQUIRE((graph.edge_attr.is_same(edges) && !graph.coordinates.defined() && !graph.positions.defined()));
  const RelativeEncoding molecules = RelativeEncoding::molecules(graph, points, 3, 2.5);
  REQUIRE((molecules.kind == RelativeEncodingKind::graph && molecules.coordinates.is_same(points)));
  REQUIRE((molecules.edge_attr.is_same(edges) && molecules.distance_channels == 3 && molecules.distance_range == 2.5));
  REQUIRE(!molecules.directions.mean.defined());
  REQUIRE(RelativeEncoding::molecules(graph, points, 3, 2.5, true).directions.mean.sizes() == points.sizes());
  const RelativeEncoding sequence = RelativeEncoding::sequence(points);
  REQUIRE((sequence.kind == RelativeEncodingKind::sequence && sequence.positions.is_same(points)));
}

}  // namespace geosft::test::test_relative_encoding
