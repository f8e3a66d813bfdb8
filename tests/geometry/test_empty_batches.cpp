// SPDX-License-Identifier: Apache-2.0
// Batches of no items, ptr = [0]: every function of packed points gives empty results of the right shapes and types.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "geometry/augment.h"
#include "geometry/normalize.h"
#include "geometry/normals.h"
#include "geometry/pairwise.h"
#include "geometry/radius_search.h"
#include "tests/support.h"

namespace geosft::test::test_empty_geometry_batches {
namespace {

void require_form(const at::Tensor& tensor, at::IntArrayRef sizes, at::ScalarType type) {
  REQUIRE(tensor.sizes() == sizes);
  REQUIRE(tensor.scalar_type() == type);
}

}  // namespace

TEST_CASE("functions of packed points give no items empty results", "[empty_geometry_batches]") {
  const at::ScalarType type = GENERATE(at::kFloat, at::kDouble);
  const at::Tensor points = at::empty({0, 3}, type).requires_grad_(true), ptr = at::zeros({1}, at::kLong);
  const RadiusNeighbours near = radius_search(points, points, 1.0, ptr, ptr);
  require_equal(near.rowptr, at::zeros({1}, at::kLong), "rowptr");
  require_form(near.col, {0}, at::kLong);
  require_form(near.dist2, {0}, type);
  const NormalizedPoints normalized = normalize(points, ptr);
  require_form(normalized.points, {0, 3}, type);
  require_form(normalized.centroid, {0, 3}, at::kDouble);
  require_form(normalized.scale, {0}, at::kDouble);
  require_form(estimate_normals(points, 5, ptr), {0, 3}, type);
  const at::Tensor rows = points.detach(), seeds = at::empty({0}, at::kLong);
  const AugmentedClouds augmented = augment_clouds(rows, rows, ptr, seeds, {.rotation = Rotation::so3, .drop = 0.5});
  require_form(augmented.points, {0, 3}, type);
  require_form(augmented.normals, {0, 3}, type);
  require_equal(augmented.ptr, ptr, "ptr");
  require_form(augmented.rows, {0}, at::kLong);
}

TEST_CASE("pairwise values of no pairs have empty gradients", "[empty_geometry_batches]") {
  const at::Tensor x = at::empty({0, 3}).requires_grad_(true), xs = at::empty({0, 3}).requires_grad_(true);
  const at::Tensor ptr = at::zeros({1}, at::kLong);
  for (const at::Tensor& values : {squared_distances(x, xs, ptr, ptr), normal_products(x, xs, ptr, ptr)}) {
    require_form(values, {0}, at::kFloat);
    for (const at::Tensor& gradient : torch::autograd::grad({values}, {x, xs}, {at::ones_like(values)})) {
      require_form(gradient, {0, 3}, at::kFloat);
    }
  }
}

}  // namespace geosft::test::test_empty_geometry_batches
