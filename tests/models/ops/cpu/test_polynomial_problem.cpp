// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/polynomial_problem.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_polynomial_problem {
namespace {

using Offsets = std::vector<int64_t>;

// Every row and head belongs to exactly one unit, which stays inside its item and begins at a block of it.
void require_cover(const PolynomialPlan& plan, const Offsets& offsets, int64_t heads) {
  std::vector<int> seen(static_cast<size_t>(offsets.back() * heads), 0);
  for (const PolynomialUnit& unit : plan.queries) {
    const PolynomialPair& pair = plan.pairs[unit.pair];
    REQUIRE(unit.begin >= offsets[pair.item]);
    REQUIRE(unit.end <= offsets[pair.item + 1]);
    REQUIRE((unit.begin - offsets[pair.item]) % kTokenBlock == 0);
    for (int64_t i = unit.begin; i < unit.end; ++i) ++seen[static_cast<size_t>(i * heads + pair.head)];
  }
  for (const int count : seen) REQUIRE(count == 1);
}

}  // namespace

TEST_CASE("polynomial_plan covers every row and head once", "[polynomial_problem]") {
  const MonomialBasis basis(3, 2);
  for (const Offsets& offsets : {Offsets{0, 9000}, Offsets{0, 0, 3, 700, 701}, Offsets{0, 5000, 5040, 8000}}) {
    for (const Reach reach : {Reach::all, Reach::before, Reach::after}) {
      for (const int64_t heads : {1, 3}) {
        require_cover(polynomial_plan(offsets, offsets, heads, 4, basis, reach), offsets, heads);
      }
    }
  }
}

TEST_CASE("polynomial_plan sums each row once into the partial accumulators of its item", "[polynomial_problem]") {
  const PolynomialPlan plan = polynomial_plan({0, 40, 90}, {0, 9000, 15000}, 2, 4, MonomialBasis(3, 2), Reach::all);
  std::vector<int> used(static_cast<size_t>(plan.partials), 0);
  int64_t rows = 0;
  for (const PolynomialUnit& unit : plan.keys) {
    const PolynomialPair& pair = plan.pairs[unit.pair];
    REQUIRE(unit.partial >= pair.first_partial);
    REQUIRE(unit.partial < pair.first_partial + pair.partials);
    ++used[static_cast<size_t>(unit.partial)];
    rows += unit.end - unit.begin;
  }
  for (const int count : used) REQUIRE(count == 1);
  REQUIRE(rows == 30000);
}

TEST_CASE("with an order a chunk's sum is for its neighbour", "[polynomial_problem]") {
  const MonomialBasis basis(3, 2);
  const PolynomialPlan before = polynomial_plan({0, 2500}, {0, 2500}, 1, 4, basis, Reach::before);
  const PolynomialPlan after = polynomial_plan({0, 2500}, {0, 2500}, 1, 4, basis, Reach::after);
  REQUIRE(before.partials == 3);
  REQUIRE(before.keys.size() == 2);
  REQUIRE(after.keys.size() == 2);
  for (size_t n = 0; n < 2; ++n) {
    REQUIRE(before.keys[n].end == before.queries[n + 1].begin);
    REQUIRE(before.keys[n].partial == before.queries[n + 1].partial);
    REQUIRE(after.keys[n].begin == after.queries[n].end);
    REQUIRE(after.keys[n].partial == after.queries[n].partial);
  }
}

TEST_CASE(
    "polynomial_plan evaluates short items pair by pair and keeps partial accumulators small compared with the rows",
    "[polynomial_problem]") {
  const MonomialBasis basis(8, 4);
  REQUIRE(polynomial_plan({0, 256}, {0, 256}, 1, 8, basis, Reach::all).pairs.front().direct);
  REQUIRE_FALSE(polynomial_plan({0, 1024}, {0, 1024}, 1, 8, basis, Reach::all).pairs.front().direct);
  REQUIRE(polynomial_plan({0, 5}, {0, 0}, 1, 8, basis, Reach::all).pairs.front().direct);
  for (const int64_t rows : {600, 5000, 100000, 3000000}) {
    const PolynomialPlan plan = polynomial_plan({0, rows}, {0, rows}, 8, 8, basis, Reach::all);
    REQUIRE(plan.partials * basis.size() <= 8 * (rows / 4 + basis.size()));
    REQUIRE((rows < 100000 || plan.queries.size() >= 16));
  }
}

TEST_CASE("sums over tokens are short ones one after the other", "[polynomial_problem]") {
  CHECK(batch_rows(int64_t{4} * 45) == kPieceRows);
  CHECK(batch_rows(int64_t{4} * 4845) == 7);
  CHECK(batch_rows(int64_t{8} * 100000) == 4);
  CHECK(additions_in_a_row(45, 4) == 64 + 1024 / 32);  // chunks of 1,024 rows, taken 32 at a time under a mask
  CHECK(additions_in_a_row(495, 4) == 64 + 62);
  CHECK(additions_in_a_row(1160, 4) == 319);  // 29 at a time: blocks of 32 take two batches
  CHECK(additions_in_a_row(4845, 4) == 3037);
}

TEST_CASE("a thread works in no more memory than polynomial_attention states", "[polynomial_problem]") {
  using Numbers = std::vector<std::pair<int64_t, int64_t>>;
  for (const auto& [c, degree] : Numbers{{1, 0}, {1, 60}, {2, 2}, {8, 4}, {16, 4}, {64, 2}, {8, 8}}) {
    const MonomialBasis basis(c, degree);
    for (const int64_t cv : {1, 8, 100}) {
      for (const Reach reach : {Reach::all, Reach::before, Reach::after}) {
        for (const auto& [lanes, bytes] : Numbers{{16, 4}, {8, 8}, {8, 4}, {4, 8}, {1, 4}}) {
          INFO("c " << c << " degree " << degree << " cv " << cv << " lanes " << lanes);
          const int64_t masked = reach == Reach::all ? 0 : (basis.size() + 16) * (cv + 1);
          const int64_t stated = 68 * basis.size() + 144 * (c + cv) + 40000 + masked;
          CHECK(polynomial_scratch(basis, cv + 1, reach, true, lanes, bytes).total() <= stated);
          CHECK(polynomial_scratch(basis, cv + 1, reach, false, lanes, bytes).slopes == 0);
        }
      }
    }
  }
}

TEST_CASE("polynomial_plan of an empty batch has no units", "[polynomial_problem]") {
  const PolynomialPlan plan = polynomial_plan({0, 0}, {0, 0}, 2, 3, MonomialBasis(2, 2), Reach::all);
  REQUIRE(plan.queries.empty());
  REQUIRE(plan.keys.empty());
}

TEST_CASE("centered_rows takes the mean of every item away", "[polynomial_problem]") {
  // Measured over 1,000 seeds, at most: 2.6e-14 where 1e-13 is allowed, and 4.8e-8 where 1e-5 is allowed.
  for (const auto type : {at::kDouble, at::kFloat}) {
    const at::Tensor x = at::randn({9, 2, 3}, generator(1), at::TensorOptions().dtype(type)) + 100;
    const at::Tensor out = centered_rows(x, {0, 4, 4, 9});
    const at::Tensor exact = x.to(at::kDouble);
    const double tolerance = type == at::kDouble ? 1e-13 : 1e-5;
    require_close(out.slice(0, 0, 4), exact.slice(0, 0, 4) - exact.slice(0, 0, 4).mean(0, true), tolerance, "first");
    require_close(out.slice(0, 4), exact.slice(0, 4) - exact.slice(0, 4).mean(0, true), tolerance, "last");
  }
}

TEST_CASE("centered_rows of no rows is empty", "[polynomial_problem]") {
  REQUIRE(centered_rows(at::zeros({0, 2, 3}), {0, 0}).sizes() == at::IntArrayRef({0, 2, 3}));
}

}  // namespace geosft::test::test_polynomial_problem
