// SPDX-License-Identifier: Apache-2.0
#include "models/layers/encoder.h"

#include <ATen/core/grad_mode.h>

#include <catch2/catch.hpp>
#include <map>

#include "tests/support.h"

namespace geosft::test::test_encoder {
namespace {

LayerOptions small(NormPlacement norm) {
  LayerOptions options;
  options.attention.width = 12;
  options.attention.heads = 3;
  options.attention.relative = RelativeEncodingKind::points;
  options.attention.relative_channels = 1;
  options.attention.sampler.num_samples = 4;
  options.norm = norm;
  return options;
}

struct Cloud {
  at::Tensor x = at::randn({25, 12}, generator(1), at::kDouble);
  at::Tensor points = at::randn({25, 3}, generator(2), at::kDouble) / 2;
  at::Tensor ptr = at::tensor({0, 10, 10, 11, 25}, at::kLong);
};

Encoder encoder(NormPlacement norm, int64_t layers) {
  manual_seed(4);
  Encoder made(small(norm), layers);
  made->to(at::kDouble);
  return made;
}

// Two layers with attention of that name, norms and feed-forward.
Encoder over_all_tokens(const std::string& attention, NormPlacement norm, int64_t degree) {
  LayerOptions options;
  options.attention.width = 12;
  options.attention.heads = 3;
  options.norm = norm;
  options.polynomial.degree = degree;
  choose_attention(options, attention);
  manual_seed(4);
  Encoder made(options, 2);
  made->to(at::kDouble);
  return made;
}

void copy_parameters(const Encoder& from, const Encoder& to) {
  const at::NoGradGuard guard;
  const auto values = from->named_parameters();
  REQUIRE(to->named_parameters().keys() == values.keys());
  for (auto& parameter : to->named_parameters()) parameter.value().copy_(values[parameter.key()]);
}

// What comes out, and the gradients of the tokens and of every parameter, by name.
std::map<std::string, at::Tensor> pass_through(Encoder made) {
  const at::Tensor ptr = at::tensor({0, 10, 11, 25}, at::kLong);
  const at::Tensor x = Cloud().x.requires_grad_(true);
  SamplingContext context = SamplingContext::seeded();
  const at::Tensor out = made->forward(x, RelativeEncoding::none(), ptr, context);
  out.backward(at::randn({25, 12}, generator(3), at::kDouble));
  std::map<std::string, at::Tensor> pass{{"out", out.detach()}, {"x", x.grad()}};
  for (const auto& parameter : made->named_parameters()) pass[parameter.key()] = parameter.value().grad();
  return pass;
}

}  // namespace

TEST_CASE("an encoder is its layers one after the other", "[encoder]") {
  const Cloud cloud;
  for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
    Encoder made = encoder(norm, 3);
    SamplingContext context = SamplingContext::seeded(), again = SamplingContext::seeded();
    at::Tensor x = cloud.x;
    for (const auto& layer : *made->layers) {
      x = layer->as<TransformerLayer>()->forward(x, RelativeEncoding::points(cloud.points), cloud.ptr, again);
    }
    if (norm == NormPlacement::pre) x = made->norm->forward(x);
    require_equal(made->forward(cloud.x, RelativeEncoding::points(cloud.points), cloud.ptr, context), x, "out");
    REQUIRE(made->norm.is_empty() == (norm == NormPlacement::post));
    REQUIRE(made->layers->size() == 3);
  }
  require_error([] { encoder(NormPlacement::pre, 0); }, {"layers", "0"});
}

TEST_CASE("permuting the tokens permutes what the greedy encoder makes of them", "[encoder]") {
  // Measured over 1,000 seeds, at most: 3.1e-15 where 1e-11 is allowed.
  const Cloud cloud;
  Encoder made = encoder(NormPlacement::pre, 2);
  const at::Tensor order = at::randperm(25, generator(6));
  SamplingContext context = SamplingContext::greedy();
  const at::Tensor out = made->forward(cloud.x, RelativeEncoding::points(cloud.points), std::nullopt, context);
  const at::Tensor moved =
      made->forward(cloud.x.index_select(0, order), RelativeEncoding::points(cloud.points.index_select(0, order)),
                    std::nullopt, context);
  require_close(moved, out.index_select(0, order), 1e-11, "out");
}

TEST_CASE("an item of a batch is encoded as it is alone", "[encoder]") {
  // Measured over 1,000 seeds, at most: 3.4e-15 where 1e-12 is allowed.
  const Cloud cloud;
  Encoder made = encoder(NormPlacement::post, 2);
  SamplingContext context = SamplingContext::seeded(), alone = SamplingContext::seeded();
  const at::Tensor out = made->forward(cloud.x, RelativeEncoding::points(cloud.points), cloud.ptr, context);
  const at::Tensor last =
      made->forward(cloud.x.slice(0, 11), RelativeEncoding::points(cloud.points.slice(0, 11)), std::nullopt, alone);
  require_close(out.slice(0, 11), last, 1e-12, "last item");
  REQUIRE(at::isfinite(out).all().item<bool>());
}

TEST_CASE("gradients through norms, feed-forward and layers of polynomial attention are softmax's in the limit",
          "[encoder]") {
  for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
    Encoder exact = over_all_tokens("softmax", norm, 0);
    const auto expected = pass_through(exact);
    const auto polynomial = [&](int64_t degree) {
      Encoder made = over_all_tokens("polynomial", norm, degree);
      copy_parameters(exact, made);
      return pass_through(made);
    };
    const auto actual = polynomial(16);
    REQUIRE(actual.size() == expected.size());
    // Softmax does not see the keys' bias: its gradient is zero but for rounding. 4.2e-7 at most over 1,000 seeds.
    for (const auto& [name, value] : expected) require_close(actual.at(name), value, 1e-5, name, 0.01);
    const at::Tensor coarse = polynomial(4).at("x"), fine = expected.at("x");
    CHECK((coarse - fine).abs().max().item<double>() > 1e-4 * fine.abs().max().item<double>());
  }
}

TEST_CASE("an encoder joins the tokens of its layers", "[encoder]") {
  // Measured: the same bits where 1e-12 is allowed.
  const Cloud cloud;
  const RelativeEncoding relative = RelativeEncoding::points(cloud.points);
  for (const auto jumping : {JumpingKnowledge::concatenate, JumpingKnowledge::max, JumpingKnowledge::sum}) {
    manual_seed(4);
    Encoder made(small(NormPlacement::post), 3, EncoderOptions{.jumping = jumping});
    made->to(at::kDouble);
    SamplingContext context = SamplingContext::greedy();
    std::vector<at::Tensor> outputs{cloud.x};
    for (const auto& layer : *made->layers) {
      outputs.push_back(layer->as<TransformerLayer>()->forward(outputs.back(), relative, cloud.ptr, context));
    }
    outputs.erase(outputs.begin());
    const at::Tensor stacked = at::stack(outputs);
    const at::Tensor expected = jumping == JumpingKnowledge::sum   ? stacked.sum(0)
                                : jumping == JumpingKnowledge::max ? std::get<0>(stacked.max(0))
                                                                   : made->jump->forward(at::cat(outputs, 1));
    require_close(made->forward(cloud.x, relative, cloud.ptr, context), expected, 1e-12, "joined");
  }
}

TEST_CASE("an encoder passes a virtual node from layer to layer", "[encoder]") {
  const Cloud cloud;
  const RelativeEncoding relative = RelativeEncoding::points(cloud.points);
  manual_seed(4);
  Encoder made(small(NormPlacement::post), 2, EncoderOptions{.virtual_node = true});
  made->to(at::kDouble);
  made->virtual_node->embedding.data().copy_(at::randn({12}, generator(5), at::kDouble));
  SamplingContext context = SamplingContext::greedy();
  const EdgeIndex of_items = edges_of_items(cloud.ptr, 25, at::kCPU);
  const auto layer = [&](size_t i, const at::Tensor& x) {
    return made->layers[i]->as<TransformerLayer>()->forward(x, relative, cloud.ptr, context);
  };
  at::Tensor state = made->virtual_node->start(4);
  const at::Tensor x = layer(0, made->virtual_node->read(cloud.x, state, of_items));
  state = made->virtual_node->write(x, state, of_items, context);
  require_equal(made->forward(cloud.x, relative, cloud.ptr, context),
                layer(1, made->virtual_node->read(x, state, of_items)), "out");
}

}  // namespace geosft::test::test_encoder
