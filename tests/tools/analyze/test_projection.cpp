// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/projection.h"

#include <catch2/catch.hpp>

#include "data/seeds.h"
#include "tests/support.h"

namespace geosft::test::test_projection {
namespace {

// Three groups of `each` rows in 10 dimensions, far apart, and their labels.
std::pair<at::Tensor, at::Tensor> groups(int64_t each) {
  const at::Tensor centre = 20 * at::eye(10, at::kDouble).narrow(0, 0, 3);
  const at::Tensor rows = at::randn({3, each, 10}, make_generator(1), at::TensorOptions().dtype(at::kDouble));
  return {(rows + centre.unsqueeze(1)).reshape({-1, 10}), at::arange(3, at::kLong).repeat_interleave(each)};
}

}  // namespace

TEST_CASE("principal components are the directions of largest variance") {
  // A plane in 5 dimensions, stretched along its first axis.
  const at::Tensor plane =
      at::tensor({-3.0, 1.0, -1.0, -2.0, 1.0, -1.0, 4.0, 2.0, -1.0, 0.0}, at::kDouble).view({5, 2});
  const at::Tensor frame =
      std::get<0>(at::linalg_qr(at::randn({5, 2}, make_generator(3), at::TensorOptions().dtype(at::kDouble))));
  const at::Tensor found = principal_components(plane.matmul(frame.t()) + 7.0);
  const at::Tensor centred = plane - plane.mean(0);
  require_close(at::cdist(found, found), at::cdist(centred, centred), 1e-9, "distances");
  CHECK(found.select(1, 0).var().item<double>() > found.select(1, 1).var().item<double>());
  CHECK((found * found.flip({1})).sum().abs().item<double>() < 1e-9);  // uncorrelated
  for (int64_t axis = 0; axis < 2; ++axis) {
    const at::Tensor column = found.select(1, axis);
    CHECK(column[column.abs().argmax()].item<double>() > 0);
  }
  CHECK(principal_components(at::arange(4, at::kDouble).unsqueeze(1)).select(1, 1).abs().max().item<double>() == 0);
  require_error([] { principal_components(at::zeros({1, 3})); }, {"rows", "n >= 2"});
}

TEST_CASE("t-SNE keeps groups together, equal on every call") {
  const auto [rows, labels] = groups(20);
  const at::Tensor found = tsne_projection(rows, 8, 400);
  require_equal(tsne_projection(rows, 8, 400), found, "again");
  CHECK(neighbour_accuracy(found, labels) > 0.9);
  const at::Tensor middle = found.view({3, 20, 2}).mean(1);
  const double radius = (found.view({3, 20, 2}) - middle.unsqueeze(1)).norm(2, -1).mean().item<double>();
  CHECK(at::pdist(middle).min().item<double>() > 2 * radius);
  require_error([few = rows.narrow(0, 0, 3)] { tsne_projection(few); }, {"4", "found 3"});
  require_error([input = rows] { tsne_projection(input, 0.5); }, {"perplexity", "0.5"});
}

TEST_CASE("a neighbour is the nearest other row") {
  const at::Tensor rows = at::tensor({0.0, 1.0, 5.0, 6.0, 20.0}, at::kDouble).unsqueeze(1);
  CHECK(neighbour_accuracy(rows, at::tensor({0, 0, 1, 2, 2}, at::kLong)) == Approx(0.6));
}

}  // namespace geosft::test::test_projection
