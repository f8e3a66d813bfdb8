// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_mask.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_primal_mask {
namespace {

// Queries 0, 1 | 2 of two items, keys 0, 1, 2 | 3, 4, with the factor 1 for the first head and 2 for the second.
PrimalMask mask_of(std::vector<int64_t> rowptr, std::vector<int64_t> col, std::vector<int64_t> pool = {1, 1}) {
  const at::Tensor q = at::zeros({3, 2, 1}), k = at::zeros({5, 2, 1});
  const std::optional<at::Tensor> none, rows = at::tensor(rowptr, at::kLong), columns = at::tensor(col, at::kLong);
  const PrimalArguments a{q, k, k, none, pool, "softmax", 0, none, none, rows, columns, std::nullopt};
  return {a, {{0, 2, 3}, {0, 3, 5}}, head_groups(pool, 2)};
}

}  // namespace

TEST_CASE("a mask is one for all heads or one a head", "[primal_mask]") {
  const PrimalMask shared = mask_of({0, 2, 2, 3}, {0, 2, 4});
  REQUIRE(shared.given());
  REQUIRE(shared.rows(1)[1] == 2);
  const PrimalMask own = mask_of({0, 2, 2, 3, 4, 6, 7}, {0, 2, 4, 1, 0, 1, 2}, {1, 2});
  REQUIRE(own.rows(1)[0] == 3);
  REQUIRE(own.columns()[own.rows(1)[2]] == 2);
}

TEST_CASE("a mask whose values are wrong is refused", "[primal_mask]") {
  require_error([] { mask_of({1, 2, 2, 3}, {0, 2, 4}); }, {"mask_rowptr must begin with 0"});
  require_error([] { mask_of({0, 2, 1, 3}, {0, 2, 4}); }, {"mask_rowptr must not decrease", "entry 2"});
  require_error([] { mask_of({0, 2, 2, 4}, {0, 2, 4}); }, {"mask_rowptr must end with", "3", "4"});
  require_error([] { mask_of({0, 2, 2, 3}, {2, 0, 4}); }, {"mask_col must rise", "sees 0", "expected 3"});
  require_error([] { mask_of({0, 2, 2, 3}, {1, 1, 4}); }, {"mask_col must rise", "sees 1"});
  require_error([] { mask_of({0, 2, 2, 3}, {0, 3, 4}); }, {"query 0 of head 0 sees 3", "1 to 2"});
  require_error([] { mask_of({0, 2, 2, 3}, {-1, 0, 4}); }, {"mask_col"});
  require_error([] { mask_of({0, 2, 2, 3, 3, 3, 4}, {0, 2, 4, 3}, {1, 2}); }, {"query 2 of head 1 sees 3", "2 to 2"});
}

}  // namespace geosft::test::test_primal_mask
