// SPDX-License-Identifier: Apache-2.0
#include "models/layers/token_pooling.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_token_pooling {
namespace {

const std::vector<int64_t> items{0, 5, 5, 6, 12};

at::Tensor tokens() {
  return at::randn({12, 4}, generator(1), at::kDouble);
}

}  // namespace

TEST_CASE("groups of neighbours are averaged, maximised or convolved", "[token_pooling]") {
  // Measured: the same bits where 1e-14 is allowed.
  const at::Tensor x = tokens(), weight = at::randn({4, 2}, generator(2), at::kDouble);
  const std::vector<std::pair<int64_t, int64_t>> groups{{0, 2}, {2, 4}, {4, 5}, {5, 6}, {6, 8}, {8, 10}, {10, 12}};
  for (const PoolingKind kind : {PoolingKind::average, PoolingKind::max, PoolingKind::convolution}) {
    const PooledTokens pooled = pool_tokens(x, items, 2, kind, weight);
    REQUIRE(pooled.offsets == std::vector<int64_t>{0, 3, 3, 4, 7});
    REQUIRE(pooled.x.size(0) == 7);
    require_equal(pooled.group, at::tensor({0, 0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6}, at::kLong), "groups");
    for (size_t g = 0; g < groups.size(); ++g) {
      const at::Tensor rows = x.slice(0, groups[g].first, groups[g].second);
      at::Tensor expected = rows.mean(0);
      if (kind == PoolingKind::max) expected = rows.amax(0);
      if (kind == PoolingKind::convolution) expected = (rows * weight.t().slice(0, 0, rows.size(0))).sum(0);
      require_close(pooled.x[static_cast<int64_t>(g)], expected, 1e-14, "group " + std::to_string(g));
    }
    require_gradcheck(
        [&](const std::vector<at::Tensor>& in) {
          return pool_tokens(in[0], items, 2, kind, in[1]).x + 0 * in[1].sum();
        },
        {x, weight});
  }
}

TEST_CASE("k-means finds clusters wherever their tokens lie", "[token_pooling]") {
  // Measured: the same bits where 1e-14 is allowed.
  const at::Tensor centres = at::tensor({0.0, 10.0, 20.0}, at::kDouble);
  const at::Tensor noise = at::randn({9, 1}, generator(3), at::kDouble) * 0.1;
  const at::Tensor x = (centres.repeat({3}).unsqueeze(1) + noise).contiguous();
  const PooledTokens pooled = pool_tokens(x, {0, 9}, 3, PoolingKind::k_means);
  REQUIRE(pooled.offsets == std::vector<int64_t>{0, 3});
  const at::Tensor means = (x.view({3, 3}).mean(0)).view({3, 1});
  require_close(std::get<0>(pooled.x.sort(0)), means, 1e-14, "means");
  CHECK((pooled.x.index_select(0, pooled.group) - x).abs().max().item<double>() < 1);
  require_gradcheck(
      [](const std::vector<at::Tensor>& in) {
        return pool_tokens(in[0], {0, 9}, 3, PoolingKind::k_means).x;
      },
      {x});
}

TEST_CASE("k-means pools every item for itself", "[token_pooling]") {
  // Measured: the same bits where 1e-15 or 1e-14 is allowed.
  const at::Tensor x = tokens();
  const PooledTokens pooled = pool_tokens(x, items, 3, PoolingKind::k_means);
  REQUIRE(pooled.offsets.size() == items.size());
  REQUIRE(pooled.offsets[1] == pooled.offsets[2]);
  require_close(pooled.x[pooled.offsets[2]], x[5], 1e-15, "the one token of an item");
  const at::Tensor sums = at::zeros_like(pooled.x).index_add(0, pooled.group, x);
  require_close(sums / at::bincount(pooled.group).unsqueeze(1), pooled.x, 1e-14, "means of the groups");
}

TEST_CASE("a cluster of k-means that ends up empty is its last centre, a constant", "[token_pooling]") {
  // Measured: the same bits where 1e-15 or 1e-14 is allowed.
  const at::Tensor equal = at::ones({8, 2}, at::kDouble).requires_grad_(true);
  const PooledTokens pooled = pool_tokens(equal, {0, 8}, 2, PoolingKind::k_means);
  REQUIRE(pooled.offsets == std::vector<int64_t>{0, 4});
  require_equal(pooled.x.detach(), at::ones({4, 2}, at::kDouble), "centres");
  require_equal(pooled.group, at::zeros({8}, at::kLong), "all are in the first one");
  pooled.x.sum().backward();
  require_close(equal.grad(), at::full({8, 2}, 0.125, at::kDouble), 1e-15, "gradient of the first one's mean");
  // The third one begins at 8, moves to 28 / 3, and then loses all of its tokens to the second one.
  const at::Tensor x = at::tensor({8.0, 17.0, 14.0, 16.0, 7.0, 13.0, 13.0, 8.0, 12.0}, at::kDouble).unsqueeze(1);
  const PooledTokens three = pool_tokens(x, {0, 9}, 3, PoolingKind::k_means);
  require_close(three.x.flatten(), at::tensor({85.0, 46.0, 56.0}, at::kDouble) / 6, 1e-14, "three");
}

TEST_CASE("what cannot be pooled is refused", "[token_pooling]") {
  require_error([] { pool_tokens(tokens(), {0, 5}, 2, PoolingKind::max); }, {"x must be [N, d]", "5"});
  require_error([] { pool_tokens(tokens(), items, 0, PoolingKind::max); }, {"factor", "0"});
  require_error([] { pool_tokens(tokens(), items, 2, PoolingKind::convolution); }, {"weight", "[4, 2]"});
}

}  // namespace geosft::test::test_token_pooling
