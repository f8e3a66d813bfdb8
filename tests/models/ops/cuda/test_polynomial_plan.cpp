// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_host.h"

#include <catch2/catch.hpp>

#include "models/ops/cuda/polynomial_arrays.h"
#include "models/ops/monomials.h"
#include "models/ops/polynomial_attention.h"

namespace geosft::test::test_polynomial_plan {
namespace {

using Offsets = std::vector<int64_t>;

cuda::PolynomialPlan plan(int64_t c, int64_t degree, const Offsets& offsets, bool known = true,
                          cuda::Reach reach = cuda::Reach::kAll) {
  const cuda::PolynomialItems items{known ? &offsets : nullptr,
                                    known ? &offsets : nullptr,
                                    static_cast<int64_t>(offsets.size()) - 1,
                                    offsets.back(),
                                    offsets.back(),
                                    4};
  return cuda::polynomial_plan(cuda::table_shape(c, degree), c, degree, c, reach, 256, items);
}

Offsets equal_items(int64_t items, int64_t rows) {
  Offsets offsets{0};
  for (int64_t b = 0; b < items; ++b) offsets.push_back(offsets.back() + rows);
  return offsets;
}

}  // namespace

TEST_CASE("tables have what two factors need, or leave room for several rows a thread", "[polynomial_plan]") {
  const auto shape = [](int64_t c, int64_t degree) {
    const cuda::TableShape found = cuda::table_shape(c, degree);
    return std::vector<int>{found.table_degree, found.entries, found.factors};
  };
  CHECK(shape(8, 2) == std::vector<int>{1, 9, 2});
  CHECK(shape(8, 4) == std::vector<int>{2, 45, 2});
  CHECK(shape(16, 4) == std::vector<int>{1, 17, 4});
  CHECK(shape(8, 8) == std::vector<int>{2, 45, 4});
  CHECK(shape(8, 10) == std::vector<int>{2, 45, 8});
  CHECK(shape(1, 0) == std::vector<int>{1, 2, 2});
  CHECK(shape(128, 2) == std::vector<int>{1, 129, 2});
  CHECK(shape(1, 2096).back() == cuda::kMaxFactors);
  CHECK(shape(1, 2097).back() == 0);
  CHECK(shape(2, 224).back() == cuda::kMaxFactors);
  CHECK(shape(2, 225).back() == 0);
}

TEST_CASE("every other basis that polynomial_attention computes with has a table", "[polynomial_plan]") {
  for (int64_t c = 3; c <= cuda::kMaxWidth; ++c) {
    for (int64_t degree = 0; monomial_count(c, degree) <= kMaxMonomials; ++degree) {
      const cuda::TableShape shape = cuda::table_shape(c, degree);
      INFO("channels " << c << " degree " << degree);
      REQUIRE(shape.factors >= 2);
      REQUIRE(shape.entries <= cuda::kLargestTable);
      REQUIRE(shape.entries == monomial_count(c, shape.table_degree));
      REQUIRE(int64_t{shape.factors} * shape.table_degree >= degree);
    }
  }
}

TEST_CASE("items go by monomials where these are less work", "[polynomial_plan]") {
  for (const bool masked : {false, true}) {
    const cuda::Reach reach = masked ? cuda::Reach::kBefore : cuda::Reach::kAll;
    const cuda::PolynomialPlan large = plan(8, 4, {0, 4096}, true, reach), small = plan(8, 4, {0, 256}, true, reach);
    CHECK(large.monomials);
    CHECK(large.pairs == masked);  // of the rows of a chunk
    CHECK_FALSE(small.monomials);
    CHECK(small.pairs);
  }
  const cuda::PolynomialPlan both = plan(8, 2, {0, 2000, 2010, 4000});
  CHECK(both.monomials);
  CHECK(both.pairs);
  CHECK_FALSE(plan(64, 3, {0, 4096}).monomials);
  CHECK(plan(64, 3, {0, 100000}).monomials);
}

TEST_CASE("where the host does not know the items, both ways are ready, but for what is never worth it",
          "[polynomial_plan]") {
  const cuda::PolynomialPlan unknown = plan(8, 2, {0, 2000, 4000}, false);
  CHECK(unknown.monomials);
  CHECK(unknown.pairs);
  CHECK_FALSE(plan(8, 4, {0, 100, 200}, false).monomials);
  for (int64_t rows = 1; rows < 2000; rows += 7) {  // what an item may do, one of all rows may
    const Offsets offsets{0, rows, rows + 13};
    if (plan(8, 3, offsets).monomials) REQUIRE(plan(8, 3, offsets, false).monomials);
  }
}

TEST_CASE("chunks do not overlap, and states take no more numbers than rows", "[polynomial_plan]") {
  for (const auto& [c, degree] : std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {2, 2}, {8, 2}, {8, 4}, {16, 4}}) {
    for (const auto& [reach, known] : {std::pair(cuda::Reach::kAll, true), std::pair(cuda::Reach::kAll, false),
                                       std::pair(cuda::Reach::kAfter, true), std::pair(cuda::Reach::kAfter, false)}) {
      for (const Offsets& offsets : {equal_items(1, 100000), equal_items(100, 1000), equal_items(30, 10007),
                                     equal_items(5000, 33), Offsets{0, 17, 17, 4000, 4001, 90000, 90016, 91100}}) {
        const cuda::PolynomialPlan p = plan(c, degree, offsets, known, reach);
        const cuda::PackedRows rows{offsets.size() > 2 ? offsets.data() : nullptr,
                                    static_cast<int64_t>(offsets.size()) - 1, offsets.back()};
        INFO("channels " << c << " degree " << degree << " items " << rows.items);
        int64_t next = 0;
        for (int64_t b = 0; b < rows.items; ++b) {
          const int64_t n = offsets[b + 1] - offsets[b];
          if (!p.costs.worth_monomials(n, n)) continue;
          const int64_t first = offsets[b] / p.chunks.spacing;
          REQUIRE(first >= next);
          next = first + (n + p.chunks.rows - 1) / p.chunks.rows;
          for (int64_t place = first; place < next; ++place) REQUIRE(cuda::item_at(rows, p.chunks, place) == b);
        }
        REQUIRE(next <= p.chunks.count(rows));
        const int64_t state = monomial_count(c, degree) * (c + 1);
        REQUIRE(p.chunks.count(rows) * state <= 2 * (2 * c + 3 * degree + 1) * rows.rows + state);
        REQUIRE(p.chunks.rows % 256 == 0);
      }
    }
  }
}

TEST_CASE("if the items are known, only existing chunks have states", "[polynomial_plan]") {
  const Offsets offsets = equal_items(1024, 1024);
  const cuda::PackedRows rows{offsets.data(), 1024, offsets.back()};
  CHECK(plan(8, 2, offsets, true).chunks.count(rows) == 1025);
  CHECK(plan(8, 2, offsets, false).chunks.count(rows) > 1025);
}

TEST_CASE("few queries over many keys go by monomials, whose keys are shared out", "[polynomial_plan]") {
  const Offsets one{0, 1}, many{0, 300000};
  const auto work = [](const Offsets& row_offsets, const Offsets& column_offsets) {
    return cuda::polynomial_plan(cuda::table_shape(8, 2), 8, 2, 8, cuda::Reach::kAll, 256,
                                 {&row_offsets, &column_offsets, 1, row_offsets.back(), column_offsets.back(), 1});
  };
  CHECK(work(one, many).monomials);
  CHECK(work(many, one).pairs);
}

TEST_CASE("an item without a mask has a bounded number of chunks", "[polynomial_plan]") {
  for (const int64_t rows : {1000, 65536, 10000000}) {
    CHECK((rows + plan(8, 2, {0, rows}).chunks.rows - 1) / plan(8, 2, {0, rows}).chunks.rows <= 64);
  }
}

}  // namespace geosft::test::test_polynomial_plan
