// SPDX-License-Identifier: Apache-2.0
#include "models/layers/encoder.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_encoder {
namespace {

LayerOptions small(NormPlacement norm) {
  LayerOptions options;
  options.attention.width = 12;
  options.attention.heads = 3;
  options.attention.relative = RelativeKind::points;
  options.attention.relative_channels = 1;
  options.attention.sampler.bins = 4;
  options.norm = norm;
  return options;
}

struct Cloud {
  at::Tensor x = at::randn({25, 12}, generator(1), at::kDouble);
  at::Tensor points = at::randn({25, 3}, generator(2), at::kDouble) / 2;
  at::Tensor ptr = at::tensor({0, 10, 10, 11, 25}, at::kLong);
};

Encoder encoder(NormPlacement norm, int64_t layers) {
  at::manual_seed(4);
  Encoder made(small(norm), layers);
  made->to(at::kDouble);
  return made;
}

}  // namespace

TEST_CASE("an encoder is its layers one after the other", "[encoder]") {
  const Cloud cloud;
  for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
    Encoder made = encoder(norm, 3);
    SamplingContext context = SamplingContext::seeded(), again = SamplingContext::seeded();
    at::Tensor x = cloud.x;
    for (const auto& layer : *made->layers) {
      x = layer->as<TransformerLayer>()->forward(x, Relative::points(cloud.points), cloud.ptr, again);
    }
    if (norm == NormPlacement::pre) x = made->norm->forward(x);
    require_equal(made->forward(cloud.x, Relative::points(cloud.points), cloud.ptr, context), x, "out");
    REQUIRE(made->norm.is_empty() == (norm == NormPlacement::post));
    REQUIRE(made->layers->size() == 3);
  }
  require_error([] { encoder(NormPlacement::pre, 0); }, {"layers", "0"});
}

TEST_CASE("permuting the tokens permutes what the greedy encoder makes of them", "[encoder]") {
  const Cloud cloud;
  Encoder made = encoder(NormPlacement::pre, 2);
  const at::Tensor order = at::randperm(25, generator(6));
  SamplingContext context = SamplingContext::greedy();
  const at::Tensor out = made->forward(cloud.x, Relative::points(cloud.points), std::nullopt, context);
  const at::Tensor moved = made->forward(cloud.x.index_select(0, order),
                                         Relative::points(cloud.points.index_select(0, order)), std::nullopt, context);
  require_close(moved, out.index_select(0, order), 1e-11, "out");
}

TEST_CASE("an item of a batch is encoded as it is alone", "[encoder]") {
  const Cloud cloud;
  Encoder made = encoder(NormPlacement::post, 2);
  SamplingContext context = SamplingContext::seeded(), alone = SamplingContext::seeded();
  const at::Tensor out = made->forward(cloud.x, Relative::points(cloud.points), cloud.ptr, context);
  const at::Tensor last =
      made->forward(cloud.x.slice(0, 11), Relative::points(cloud.points.slice(0, 11)), std::nullopt, alone);
  require_close(out.slice(0, 11), last, 1e-12, "last item");
  REQUIRE(at::isfinite(out).all().item<bool>());
}

}  // namespace geosft::test::test_encoder
