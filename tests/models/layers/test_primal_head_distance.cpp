// SPDX-License-Identifier: Apache-2.0
#include "models/layers/primal_head_distance.h"

#include <ATen/core/grad_mode.h>
#include <torch/nn/modules/container/modulelist.h>

#include <catch2/catch.hpp>

#include "tests/models/layers/double_layer.h"
#include "tests/models/layers/slow_primal_layer.h"
#include "tests/models/training/emulated_gpu.h"
#include "tests/support.h"

namespace geosft::test::test_primal_head_distance {
namespace {

constexpr int64_t kWidth = 12, kHeads = 3;
const std::vector<int64_t> offsets{0, 5, 5, 26};

PrimalSelfAttention layer_of(const PrimalOptions& options) {
  return double_layer<PrimalSelfAttention>(kWidth, kHeads, options);
}

at::Tensor tokens() {
  return at::randn({26, kWidth}, generator(1), at::kDouble) * 3;
}
at::Tensor items() {
  return at::tensor(offsets, at::kLong);
}

PrimalWeights weights_of(const PrimalSelfAttention& layer) {
  return {layer->query->weight, layer->query->bias, layer->key->weight, layer->key->bias, layer->value->weight,
          layer->value->bias,   layer->beta,        layer->convolution, layer->pooling};
}

HeadDistances distances_of(const PrimalSelfAttention& layer) {
  return head_distances(tokens(), kHeads, weights_of(layer), layer->options, items(), RelativeEncoding::none());
}

}  // namespace

TEST_CASE("the attention of queries on tokens is that of the definition", "[primal_head_distance]") {
  // Measured over 1,000 seeds, at most: 2.6e-15 where 1e-12 is allowed.
  at::NoGradGuard guard;
  const at::Tensor x = tokens().slice(0, 0, 11);
  for (const PrimalOptions& options :
       {PrimalOptions{}, PrimalOptions{.linear = true}, PrimalOptions{.beta = 0.5, .pool = {1, 2, 4}},
        PrimalOptions{.mask = MaskKind::window, .mask_size = 3, .pool = {2, 1, 2}},
        PrimalOptions{.pool = {3, 3, 1}, .pooling = PoolingKind::max}}) {
    PrimalSelfAttention layer = layer_of(options);
    const at::Tensor found =
        primal_attention_rows(x, kHeads, weights_of(layer), options, RelativeEncoding::none(), 2, 6);
    for (int64_t head = 0; head < kHeads; ++head) {
      const at::Tensor expected = SlowPrimalHead{*layer, head, x}.attention_on_tokens().slice(0, 2, 8);
      require_close(found.select(2, head), expected, 1e-12, "attention");
    }
  }
}

TEST_CASE("attention over a mask that a GPU has made is that of the CPU", "[primal_head_distance]") {
  // Measured: the same bits where 1e-12 is allowed.
  at::NoGradGuard guard;
  const at::Tensor x = tokens().slice(0, 0, 6), points = at::randn({6, 3}, generator(9), at::kDouble);
  const at::Tensor rowptr = at::tensor({0, 3, 4, 4, 6, 6, 7}, at::kLong);
  const at::Tensor col = at::tensor({2, 0, 2, 1, 5, 5, 0}, at::kLong);  // itself and a neighbour, twice
  for (const MaskKind kind : {MaskKind::nearest, MaskKind::neighbours}) {
    for (const std::vector<int64_t>& pool : {std::vector<int64_t>{}, {1, 2, 4}}) {
      const PrimalOptions options{.mask = kind, .mask_size = 3, .pool = pool};
      const auto rows_on = [&](at::Device device) {
        PrimalSelfAttention layer = layer_of(options);
        layer->to(device);
        const RelativeEncoding relative =
            kind == MaskKind::nearest
                ? RelativeEncoding::points(points.to(device))
                : RelativeEncoding::graph(rowptr.to(device), col.to(device), at::ones({7, 1}).to(device));
        return primal_attention_rows(x.to(device), kHeads, weights_of(layer), options, relative, 1, 4).cpu();
      };
      require_close(rows_on(emulated_gpu::device), rows_on(at::kCPU), 1e-12, "attention");
    }
  }
}

TEST_CASE("masks of an item are those of its points and its edges", "[primal_head_distance]") {
  // Measured: the same bits where 1e-12 is allowed.
  at::NoGradGuard guard;
  const at::Tensor x = tokens(), points = at::randn({26, 3}, generator(9), at::kDouble);
  const at::Tensor rowptr = at::arange(27, at::kLong);  // an edge to the next token, and from the last one to itself
  const at::Tensor col =
      at::cat({at::arange(1, 5), at::tensor({4}, at::kLong), at::arange(6, 26), at::tensor({25}, at::kLong)});
  for (const MaskKind kind : {MaskKind::nearest, MaskKind::neighbours}) {
    const PrimalOptions options{.mask = kind, .mask_size = 3};
    PrimalSelfAttention layer = layer_of(options);
    const auto relative = [&](int64_t begin, int64_t end) {
      if (kind == MaskKind::nearest) return RelativeEncoding::points(points.slice(0, begin, end));
      return RelativeEncoding::graph(rowptr.slice(0, begin, end + 1) - begin, col.slice(0, begin, end) - begin,
                                     at::ones({end - begin, 1}));
    };
    const HeadDistances all = head_distances(x, kHeads, weights_of(layer), options, items(), relative(0, 26));
    const HeadDistances last =
        head_distances(x.slice(0, 5), kHeads, weights_of(layer), options, std::nullopt, relative(5, 26));
    require_close(all.tokens.slice(0, 5), last.tokens, 1e-12, "tokens");
    require_close(all.items[2], last.items[0], 1e-12, "item");
  }
}

TEST_CASE("the distance between heads is that of their attention", "[primal_head_distance]") {
  // Measured over 1,000 seeds, at most: 8.4e-16 where 1e-12 is allowed.
  at::NoGradGuard guard;
  PrimalSelfAttention layer = layer_of({.beta = 0.5, .pool = {1, 2, 4}});
  const HeadDistances found = distances_of(layer);
  REQUIRE(found.tokens.size(0) == 26);
  REQUIRE(found.items.size(0) == 3);
  for (const int64_t item : {0, 2}) {
    const int64_t begin = offsets[static_cast<size_t>(item)], end = offsets[static_cast<size_t>(item) + 1];
    at::Tensor rows = at::zeros({end - begin}, at::kDouble), whole = at::zeros({}, at::kDouble);
    for (const auto& [s, t] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
      const auto attention = [&](int64_t head) {
        return SlowPrimalHead{*layer, head, tokens().slice(0, begin, end)}.attention_on_tokens();
      };
      const at::Tensor difference = attention(s) - attention(t);
      rows += difference.norm(2, 1) / 3;
      whole += difference.norm() / 3;
    }
    require_close(found.tokens.slice(0, begin, end), rows, 1e-12, "rows");
    require_close(found.items[item], whole, 1e-12, "matrix");
  }
  REQUIRE(found.items[1].item<double>() == 0);
  require_error([&] { head_distances(tokens(), 1, weights_of(layer), {}, items(), RelativeEncoding::none()); },
                {"heads", "at least 2", "1"});
}

TEST_CASE("equal heads have distance zero", "[primal_head_distance]") {
  at::NoGradGuard guard;
  PrimalSelfAttention layer = layer_of({});
  for (torch::nn::Linear* map : {&layer->query, &layer->key}) {
    (*map)->weight.copy_((*map)->weight.slice(0, 0, 4).repeat({3, 1}));
    (*map)->bias.copy_((*map)->bias.slice(0, 0, 4).repeat({3}));
  }
  REQUIRE(distances_of(layer).tokens.max().item<double>() < 1e-12);
}

TEST_CASE("watched layers accumulate head distances", "[primal_head_distance]") {
  torch::nn::ModuleList layers(layer_of({}), layer_of({.beta = 0.5}));
  REQUIRE(mean_head_distances(*layers).empty());
  watch_heads(*layers);
  REQUIRE(mean_head_distances(*layers).empty());
  auto* const first = layers[0]->as<PrimalSelfAttentionImpl>();
  first->forward(tokens(), items(), RelativeEncoding::none());
  first->forward(tokens().slice(0, 0, 5), std::nullopt, RelativeEncoding::none());
  REQUIRE(mean_head_distances(*layers).size() == 1);
  const HeadDistances once = distances_of(layer_of({}));
  const MeanHeadDistance mean = mean_head_distances(*layers)[0];
  REQUIRE(mean.tokens == Approx((once.tokens.sum() + once.tokens.slice(0, 0, 5).sum()).item<double>() / 31));
  REQUIRE(mean.items == Approx((once.items.sum() + once.items[0]).item<double>() / 4));
  watch_heads(*layers);
  REQUIRE(mean_head_distances(*layers).empty());
}

}  // namespace geosft::test::test_primal_head_distance
