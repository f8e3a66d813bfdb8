// SPDX-License-Identifier: Apache-2.0
#include "models/layers/heads.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "models/ops/edge_sum.h"
#include "models/ops/max_pool.h"
#include "models/ops/softmax_pool.h"
#include "models/training/autocast.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_heads {

TEST_CASE("the head of pairs compares what it pools of two items", "[heads]") {
  // Measured: the same bits where 1e-6 is allowed.
  manual_seed(1);
  const at::Tensor x = at::randn({20, 6}, generator(4)), ptr = longs({0, 9, 9, 14, 20});
  PairHead head(6, 2);
  const at::Tensor pooled = softmax_pool(x, head->u, ptr);
  const at::Tensor a = at::stack({pooled[0], pooled[2]}), b = at::stack({pooled[1], pooled[3]});
  const at::Tensor hidden = head->hidden->forward(at::cat({a, b, a * b, a - b}, 1)).clamp_min(0);
  require_close(head->forward(x, ptr), head->linear->forward(hidden), 1e-6, "pairs");
  require_error([&] { head->forward(x, longs({0, 9, 14, 20})); }, {"ptr", "pairs", "3"});
}

TEST_CASE("heads pool what comes out of autocast, whose parameters stay in float32", "[heads]") {
  // Measured over 1,000 seeds, at most: 8.4e-3 where 0.05 is allowed.
  manual_seed(1);
  const at::Tensor x = at::randn({10, 4}, generator(41)), ptr = longs({0, 3, 10});
  SoftmaxPoolHead pool(4, 3);
  PairHead pairs(4, 3);
  const Autocast autocast(at::kCPU, at::kBFloat16);
  const auto require_alike = [&](auto& head, const char* what) {
    // Relative to the magnitude of the terms of inputs around 1: all outputs of a head may be next to 0.
    const at::Tensor terms = head->linear->weight.detach().abs().sum(1) + head->linear->bias.detach().abs();
    require_close(head->forward(x.to(at::kBFloat16), ptr).to(at::kFloat), head->forward(x, ptr).to(at::kFloat), 0.05,
                  what, terms.max().template item<double>());
  };
  require_alike(pool, "softmax pool");
  require_alike(pairs, "pairs");
  pool->forward(x.to(at::kBFloat16), ptr).sum().backward();
  CHECK(pool->u.grad().scalar_type() == at::kFloat);
}

TEST_CASE("heads are their pooling and a linear map", "[heads]") {
  // Measured over 1,000 seeds, at most: 4.5e-7 where 1e-6 is allowed.
  manual_seed(1);
  const at::Tensor x = at::randn({20, 6}, generator(4)), ptr = longs({0, 9, 9, 20});
  SampleMaxHead sample(6, 4, SamplerOptions{.num_samples = 3}, 0.5);
  SamplingContext context = SamplingContext::greedy(), again = SamplingContext::greedy();
  const Pairs pairs = sample->sampler->forward(x, ptr, again);
  REQUIRE(pairs.ptr[3].item<int64_t>() == 6);
  // Dropout of the pooled features, in training only.
  SamplingContext one = SamplingContext::training(generator(5)), two = SamplingContext::training(generator(5));
  const at::Tensor dropped = sample->forward(x, ptr, one);
  sample->dropout = 0;
  require_equal(sample->forward(x, ptr, context), sample->linear->forward(max_pool(pairs.sample(x), pairs.ptr)),
                "sample head");
  REQUIRE_FALSE(at::equal(sample->forward(x, ptr, two), dropped));
  SoftmaxPoolHead pool(6, 2);
  require_equal(pool->forward(x, ptr), pool->linear->forward(softmax_pool(x, pool->u, ptr)), "softmax head");
  REQUIRE(pool->named_parameters().contains("u"));
  SumHead sum(6, 2);
  const at::Tensor each = sum->linear->forward(x);
  require_close(sum->forward(x, ptr), at::stack({each.slice(0, 0, 9).sum(0), at::zeros({2}), each.slice(0, 9).sum(0)}),
                1e-6, "sum head");
  TokenHead token(6, 5);
  require_equal(token->forward(x), token->linear->forward(x), "token head");
}

TEST_CASE("sum_pool and mean_pool take every item for itself", "[heads]") {
  // Measured over 1,000 seeds, at most: 1.2e-15 where 1e-14 is allowed.
  const at::Tensor x = normal({8, 3}, 21), ptr = longs({0, 0, 3, 8});
  const at::Tensor sums = at::stack({at::zeros({3}, at::kDouble), x.slice(0, 0, 3).sum(0), x.slice(0, 3, 8).sum(0)});
  require_close(sum_pool(x, ptr), sums, 1e-14, "sums");
  require_close(mean_pool(x, ptr), sums / at::tensor({1.0, 3.0, 5.0}, at::kDouble).unsqueeze(1), 1e-14, "means");
  require_close(sum_pool(x, std::nullopt), x.sum(0, true), 1e-14, "one item");
  require_close(mean_pool(x, std::nullopt), x.mean(0, true), 1e-14, "mean of one item");
  require_equal(mean_pool(x.slice(0, 0, 0), longs({0, 0, 0})), at::zeros({2, 3}, at::kDouble), "nothing");
  for (const auto pool : {sum_pool, mean_pool}) {
    require_gradcheck([&](const std::vector<at::Tensor>& in) { return pool(in[0], ptr); }, {x});
  }
}

TEST_CASE("an MLP is linear maps with GELU between them", "[heads]") {
  manual_seed(1);
  Mlp mlp(4, 6, 2, 3);
  mlp->to(at::kDouble);
  SamplingContext context = SamplingContext::greedy();
  const at::Tensor x = normal({5, 4}, 22);
  const auto linear = [&](size_t i) { return mlp->linears[i]->as<torch::nn::Linear>(); };
  REQUIRE(mlp->linears->size() == 3);
  const at::Tensor hidden = at::gelu(linear(1)->forward(at::gelu(linear(0)->forward(x))));
  require_equal(mlp->forward(x, context), linear(2)->forward(hidden), "by hand");
  require_error([] { Mlp(4, 6, 2, 0); }, {"layers", "0"});
}

TEST_CASE("a pooled head puts the features of items beside their tokens", "[heads]") {
  const at::Tensor x = normal({12, 6}, 23), ptr = longs({0, 5, 5, 12}), features = normal({3, 2}, 24);
  SamplingContext context = SamplingContext::greedy();
  for (const Pooling pooling : {Pooling::softmax, Pooling::sample_max, Pooling::sum, Pooling::mean, Pooling::max}) {
    manual_seed(2);
    PooledHead head(6, 4, PooledHeadOptions{.pooling = pooling, .layers = 2, .graph_features = 2});
    head->to(at::kDouble);
    const at::Tensor out = head->forward(x, ptr, context, features);
    REQUIRE(out.sizes() == at::IntArrayRef({3, 4}));
    const at::Tensor other = head->forward(x, ptr, context, features.roll(1, 0));
    REQUIRE((other - out).abs().min().item<double>() > 0);
    require_error([&] { head->forward(x, ptr, context); }, {"graph_features must be [3, 2]"});
    require_error([&] { head->forward(x, ptr, context, features.slice(0, 0, 2)); }, {"graph_features", "[2, 2]"});
  }
  manual_seed(2);
  PooledHead mean(6, 4, PooledHeadOptions{.pooling = Pooling::mean});
  mean->to(at::kDouble);
  require_equal(mean->forward(x, ptr, context),
                mean->mlp->linears[0]->as<torch::nn::Linear>()->forward(mean_pool(x, ptr)), "one layer is linear");
  require_error([] { PooledHead(6, 4, PooledHeadOptions{.graph_features = -1}); }, {"graph_features", "-1"});
}

TEST_CASE("a pooled head drops the inputs of its layers in training", "[heads]") {
  const at::Tensor x = normal({12, 6}, 25), ptr = longs({0, 5, 12});
  manual_seed(2);
  PooledHead head(6, 4, PooledHeadOptions{.pooling = Pooling::mean, .layers = 2, .dropout = 0.5});
  head->to(at::kDouble);
  SamplingContext plain = SamplingContext::greedy(), training = SamplingContext::training(generator(7));
  REQUIRE_FALSE(at::equal(head->forward(x, ptr, plain), head->forward(x, ptr, training)));
}

TEST_CASE("heads refuse a dropout that is no probability when they are made") {
  for (const double dropout : {-0.1, 1.0, 2.0}) {
    require_error([&] { SampleMaxHead(6, 4, SamplerOptions(), dropout); }, {"head_dropout", "[0, 1)"});
    require_error([&] { Mlp(6, 8, 4, 2, dropout); }, {"head_dropout", "[0, 1)"});
  }
}

}  // namespace geosft::test::test_heads
