// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_heads.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_primal_heads {
namespace {

// Queries 0, 1 | 2 of two items, keys 0, 1, 2 | 3, 4, with the factor 1 for the first head and 2 for the second.
PrimalMask mask_of(std::vector<int64_t> rowptr, std::vector<int64_t> col, std::vector<int64_t> pool = {1, 1}) {
  const at::Tensor q = at::zeros({3, 2, 1}), k = at::zeros({5, 2, 1});
  const std::optional<at::Tensor> none, rows = at::tensor(rowptr, at::kLong), columns = at::tensor(col, at::kLong);
  const PrimalArguments a{q, k, k, none, pool, "softmax", 0, none, none, rows, columns, std::nullopt};
  return {a, {{0, 2, 3}, {0, 3, 5}}, head_groups(pool, 2)};
}

}  // namespace

TEST_CASE("heads of one factor are taken and put back together", "[primal_heads]") {
  const std::vector<int64_t> pool{2, 1, 2, 1, 1};
  const std::vector<HeadGroup> groups = head_groups(pool, 5);
  REQUIRE(groups.size() == 2);
  REQUIRE(groups[0].heads == std::vector<int64_t>{0, 2});
  REQUIRE(groups[1].heads == std::vector<int64_t>{1, 3, 4});
  const at::Tensor x = at::randn({3, 5, 2}, generator(1));
  at::Tensor back = at::zeros_like(x);
  for (const HeadGroup& group : groups) {
    REQUIRE_FALSE(group.range());
    group.put(group.take(x), back);
  }
  require_equal(back, x, "heads");
  const HeadGroup neighbours{1, {1, 2}};
  REQUIRE(neighbours.take(x).storage().data() == x.storage().data());
  require_equal(neighbours.take(x), x.slice(1, 1, 3), "view");
  neighbours.put(at::zeros({3, 2, 2}), back);
  REQUIRE(back.slice(1, 1, 3).eq(0).all().item<bool>());
}

TEST_CASE("segments of equal and of different sizes are summed and spread", "[primal_heads]") {
  // Measured over 1,000 seeds, at most: 4.5e-16 where 1e-15 is allowed.
  const at::Tensor x = at::randn({6, 2, 3}, generator(2), at::kDouble);
  for (const std::vector<int64_t>& offsets : {std::vector<int64_t>{0, 2, 4, 6}, std::vector<int64_t>{0, 1, 1, 6}}) {
    std::vector<at::Tensor> sums, spread;
    for (size_t b = 0; b + 1 < offsets.size(); ++b) {
      sums.push_back(x.slice(0, offsets[b], offsets[b + 1]).sum(0));
      spread.push_back(sums.back().unsqueeze(0).expand({offsets[b + 1] - offsets[b], 2, 3}));
    }
    const at::Tensor found = segment_sums(x, offsets);
    require_close(found, at::stack(sums), 1e-15, "sums");
    require_close(spread_segments(found, offsets), at::cat(spread), 1e-15, "spread");
    require_close(less_segments(x, found, offsets), x - at::cat(spread), 1e-15, "less");
  }
  require_equal(segment_sizes({0, 1, 1, 6}, x).flatten(), at::tensor({1.0, 1.0, 5.0}, at::kDouble), "sizes");
}

TEST_CASE("each item is pooled for itself", "[primal_heads]") {
  const PooledRows pooled({0, 5, 5, 6, 8}, 2);
  REQUIRE(pooled.groups == std::vector<int64_t>{0, 2, 4, 5, 6, 8});
  REQUIRE(pooled.items == std::vector<int64_t>{0, 3, 3, 4, 5});
}

TEST_CASE("gradients of pooling and recentring are their transposes", "[primal_heads]") {
  // Measured: the same bits where 1e-13 is allowed.
  const auto normal = [](int64_t rows, uint64_t seed) { return at::randn({rows, 3, 2}, generator(seed), at::kDouble); };
  const std::vector<int64_t> pool{2, 1, 2};
  const OffsetPair packed{{0, 3, 4}, {0, 5, 7}};
  for (const char* kernel : {"softmax", "linear"}) {
    const at::Tensor q = normal(4, 1).requires_grad_(true), k = normal(7, 2).requires_grad_(true);
    const at::Tensor v = normal(7, 3).requires_grad_(true);
    const std::optional<at::Tensor> none, beta = at::randn({3}, generator(4), at::kDouble).requires_grad_(true);
    const PrimalArguments a{q, k, v, beta, pool, kernel, 0, none, none, none, none, std::nullopt};
    const HeadGroup group = head_groups(pool, 3)[0];
    const PrimalHeads heads(a, packed, group);
    REQUIRE(heads.k.sizes() == at::IntArrayRef({4, 2, 2}));
    const auto grad_output = [](const at::Tensor& x, uint64_t seed) {
      return at::randn(x.sizes(), generator(seed), at::kDouble);
    };
    const at::Tensor gq = grad_output(heads.q, 5), gk = grad_output(heads.k, 6), gv = grad_output(heads.v, 7);
    ((heads.q * gq).sum() + (heads.k * gk).sum() + (heads.v * gv).sum()).backward();
    const PrimalGradients found = heads.gradients(gq, gk, gv);
    require_close(found.q, group.take(q.grad()), 1e-13, "q");
    require_close(found.k, group.take(k.grad()), 1e-13, "k");
    require_close(found.v, group.take(v.grad()), 1e-13, "v");
    require_close(found.beta, beta->grad().index_select(0, at::tensor({0, 2}, at::kLong)), 1e-13, "beta");
  }
}

TEST_CASE("a mask is one for all heads or one a head", "[primal_heads]") {
  const PrimalMask shared = mask_of({0, 2, 2, 3}, {0, 2, 4});
  REQUIRE(shared.given());
  REQUIRE(shared.rows(1)[1] == 2);
  const PrimalMask own = mask_of({0, 2, 2, 3, 4, 6, 7}, {0, 2, 4, 1, 0, 1, 2}, {1, 2});
  REQUIRE(own.rows(1)[0] == 3);
  REQUIRE(own.columns()[own.rows(1)[2]] == 2);
}

TEST_CASE("a mask whose values are wrong is refused", "[primal_heads]") {
  require_error([] { mask_of({1, 2, 2, 3}, {0, 2, 4}); }, {"mask_rowptr must begin with 0"});
  require_error([] { mask_of({0, 2, 1, 3}, {0, 2, 4}); }, {"mask_rowptr must not decrease", "entry 2"});
  require_error([] { mask_of({0, 2, 2, 4}, {0, 2, 4}); }, {"mask_rowptr must end with", "3", "4"});
  require_error([] { mask_of({0, 2, 2, 3}, {2, 0, 4}); }, {"mask_col must rise", "sees 0", "expected 3"});
  require_error([] { mask_of({0, 2, 2, 3}, {1, 1, 4}); }, {"mask_col must rise", "sees 1"});
  require_error([] { mask_of({0, 2, 2, 3}, {0, 3, 4}); }, {"query 0 of head 0 sees 3", "1 to 2"});
  require_error([] { mask_of({0, 2, 2, 3}, {-1, 0, 4}); }, {"mask_col"});
  require_error([] { mask_of({0, 2, 2, 3, 3, 3, 4}, {0, 2, 4, 3}, {1, 2}); }, {"query 2 of head 1 sees 3", "2 to 2"});
}

}  // namespace geosft::test::test_primal_heads
