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
  const RelativeEncoding sequence = RelativeEncoding::sequence(points);
  REQUIRE((sequence.kind == RelativeEncodingKind::sequence && sequence.positions.is_same(points)));
}

}  // namespace geosft::test::test_relative_encoding
