// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/python_class.h"

#include <catch2/catch.hpp>

#include <torch/nn/modules/linear.h>

#include <limits>

#include "tests/support.h"
#include "tools/experiment/python_class.h"

namespace geosft::test::test_python_class {

TEST_CASE("a cloud that is handed over is a copy in single precision, with normals or without") {
  const at::Tensor points = at::randn({9, 6}, generator(1), at::kDouble);
  const Shape plain = input_cloud(points.slice(1, 0, 3), std::nullopt);
  CHECK_FALSE(plain.normals.defined());
  CHECK(plain.points.is_contiguous());
  require_equal(plain.points, points.slice(1, 0, 3).to(at::kFloat), "points");
  const Shape shape = input_cloud(points.slice(1, 0, 3), points.slice(1, 3, 6));
  require_equal(shape.normals, points.slice(1, 3, 6).to(at::kFloat), "normals");
}

TEST_CASE("normals that are not finite are missing") {
  at::Tensor normals = at::ones({3, 3});
  normals[1][2] = std::numeric_limits<float>::quiet_NaN();
  const Shape shape = input_cloud(at::randn({3, 3}, generator(1)), normals);
  require_equal(shape.normals.sum(1), at::tensor({3.0F, 0.0F, 3.0F}), "normals");
}

TEST_CASE("what is no cloud is named") {
  const at::Tensor points = at::randn({4, 3}, generator(2));
  require_error([&] { input_cloud(points.slice(1, 0, 2), std::nullopt); }, {"points", "[4, 2]"});
  require_error([&] { input_cloud(points.to(at::kLong), std::nullopt); }, {"points"});
  require_error([&] { input_cloud(points.slice(0, 0, 0), std::nullopt); }, {"points", "at least one row"});
  require_error([&] { input_cloud(points * std::numeric_limits<float>::infinity(), std::nullopt); }, {"points"});
  require_error([&] { input_cloud(points, points.slice(0, 0, 2)); }, {"normals", "[4, 3]", "[2, 3]"});
}

TEST_CASE("a state is the tensors and texts of a checkpoint") {
  const torch::nn::Linear model(3, 2);
  const Checkpoint found = checkpoint_of(served_state(*model, {{"kind", "a tool"}, {"config", "epochs = 1"}}));
  REQUIRE(found.texts == std::map<std::string, std::string>{{"kind", "a tool"}, {"config", "epochs = 1"}});
  REQUIRE(found.tensors.size() == 2);
  require_equal(found.tensors.at("model.weight"), model->weight.detach(), "weight");
  REQUIRE_FALSE(found.tensors.at("model.bias").requires_grad());
}

}  // namespace geosft::test::test_python_class
