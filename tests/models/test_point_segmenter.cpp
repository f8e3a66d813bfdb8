// SPDX-License-Identifier: Apache-2.0
#include "models/point_segmenter.h"

#include <catch2/catch.hpp>

#include "geometry/rotation.h"
#include "tests/models/small_layer.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_point_segmenter {
namespace {

PointSegmenterOptions small_options() {
  PointSegmenterOptions options;
  options.parts = 5;
  options.categories = 2;
  options.layer = small_layer(8);
  options.layers = 2;
  return options;
}

PointSegmenter segmenter(const PointSegmenterOptions& options) {
  manual_seed(2);
  PointSegmenter model(options);
  model->to(at::kDouble);
  return model;
}

struct Clouds {
  at::Tensor points = at::randn({70, 3}, generator(1), at::kDouble);
  at::Tensor normals = unit(at::randn({70, 3}, generator(2), at::kDouble));
  at::Tensor ptr = at::tensor({0, 30, 70}, at::kLong), category = at::tensor({1, 0}, at::kLong);
};

at::Tensor logits(PointSegmenter& model, const Clouds& clouds, SamplingContext context = SamplingContext::seeded()) {
  const at::NoGradGuard guard;
  return model->forward(clouds.points, clouds.normals, clouds.ptr, clouds.category, context);
}

}  // namespace

TEST_CASE("every point has its logits where it stands, however the points are stored", "[point_segmenter]") {
  // Measured: the same bits where 1e-10 is allowed.
  PointSegmenter model = segmenter(small_options());
  const Clouds clouds;
  const at::Tensor expected = logits(model, clouds);
  CHECK(expected.sizes() == at::IntArrayRef({70, 5}));
  const at::Tensor rows = at::cat({at::randperm(30, generator(5)), 30 + at::randperm(40, generator(6))});
  Clouds shuffled = clouds;
  shuffled.points = clouds.points.index_select(0, rows);
  shuffled.normals = clouds.normals.index_select(0, rows);
  require_close(logits(model, shuffled), expected.index_select(0, rows), 1e-10, "logits of shuffled points");
}

TEST_CASE("rotating leaves the logits of an invariant segmenter, and changes those of an absolute one",
          "[point_segmenter]") {
  const Clouds clouds;
  Clouds turned = clouds;
  const at::Tensor rotation = random_rotation(generator(3), at::kDouble);
  turned.points = rotate(clouds.points, rotation);
  turned.normals = rotate(clouds.normals, rotation);
  for (const PointTokens tokens : {PointTokens::ones, PointTokens::radial, PointTokens::local, PointTokens::absolute}) {
    PointSegmenterOptions options = small_options();
    options.tokens = tokens;
    PointSegmenter model = segmenter(options);
    const at::Tensor upright = logits(model, clouds);
    const double change = (logits(model, turned) - upright).abs().max().item<double>();
    INFO("tokens " << static_cast<int>(tokens));
    CHECK((change < 1e-9) == (tokens != PointTokens::absolute));
  }
}

TEST_CASE("a cloud has the same logits alone and in a batch, and others for another category", "[point_segmenter]") {
  // Measured over 1,000 seeds, at most: 3.9e-15 where 1e-11 is allowed.
  PointSegmenter model = segmenter(small_options());
  const Clouds clouds;
  const at::Tensor batch = logits(model, clouds);
  Clouds alone = clouds;
  alone.points = clouds.points.slice(0, 30);
  alone.normals = clouds.normals.slice(0, 30);
  alone.ptr = at::tensor({0, 40}, at::kLong);
  alone.category = at::tensor({0}, at::kLong);
  require_close(logits(model, alone), batch.slice(0, 30), 1e-11, "cloud");
  alone.category = at::tensor({1}, at::kLong);
  CHECK((logits(model, alone) - batch.slice(0, 30)).abs().max().item<double>() > 1e-3);
}

TEST_CASE("gradients of all parameters are there and finite", "[point_segmenter]") {
  PointSegmenter model = segmenter(small_options());
  for (auto& parameter : model->named_parameters()) {  // a layer whose scores are all negative has no gradients
    const at::NoGradGuard guard;
    if (parameter.key().ends_with("attention.b_add")) parameter.value().add_(3);
  }
  const Clouds clouds;
  SamplingContext context = SamplingContext::training(generator(4));
  model->forward(clouds.points, clouds.normals, clouds.ptr, clouds.category, context).square().sum().backward();
  for (const auto& parameter : model->named_parameters()) {
    INFO(parameter.key());
    REQUIRE(at::isfinite(parameter.value().grad()).all().item<bool>());
    CHECK(parameter.value().grad().abs().sum().item<double>() > 0);
  }
}

TEST_CASE("the segmenter names what does not fit", "[point_segmenter]") {
  const Clouds clouds;
  PointSegmenter told = segmenter(small_options());
  PointSegmenterOptions options = small_options();
  options.categories = 0;
  PointSegmenter untold = segmenter(options);
  const auto fails = [&](PointSegmenter& model, const at::Tensor& normals, const at::Tensor& category,
                         const std::vector<std::string>& words) {
    SamplingContext context = SamplingContext::greedy();
    require_error([&] { model->forward(clouds.points, normals, clouds.ptr, category, context); }, words);
  };
  fails(told, {}, clouds.category, {"normals"});
  fails(told, clouds.normals, {}, {"category", "exactly", "got none"});
  fails(untold, clouds.normals, clouds.category, {"category", "exactly", "got one", "options.categories"});
  fails(told, clouds.normals, at::tensor({1}, at::kLong), {"category", "int64 [2]", "[1]"});
  fails(told, clouds.normals, at::tensor({1, 2}, at::kLong), {"category", "[0, 2)", "from 1 to 2"});
  require_error([] { PointSegmenter(PointSegmenterOptions{.parts = 1}); }, {"parts", "1"});
  require_error([] { PointSegmenter(PointSegmenterOptions{.categories = -1}); }, {"categories", "-1"});
}

}  // namespace geosft::test::test_point_segmenter
