// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/attention_problem.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace geosft::test::test_attention_problem {
namespace {

// Every (query, head) belongs to exactly one unit, and units of one group and split never share an item.
void require_partition(const BackwardPlan& plan, const std::vector<int64_t>& q_offsets, int64_t heads) {
  std::vector<int> seen(static_cast<size_t>(q_offsets.back() * heads), 0);
  std::set<std::tuple<int64_t, int64_t, int64_t>> owners;
  REQUIRE(plan.parts.front() == 0);
  REQUIRE(plan.parts.back() == static_cast<int64_t>(plan.units.size()));
  for (size_t u = 0; u < plan.units.size(); ++u) {
    const AttentionUnit& unit = plan.units[u];
    REQUIRE(plan.parts[unit.part] <= static_cast<int64_t>(u));
    REQUIRE(static_cast<int64_t>(u) < plan.parts[unit.part + 1]);
    REQUIRE(unit.split < plan.splits);
    REQUIRE(unit.group < plan.groups);
    REQUIRE(owners.insert({unit.item, unit.split, unit.group}).second);
    for (int64_t i = unit.q_begin; i < unit.q_end; ++i) {
      for (int64_t h = unit.head_begin; h < unit.head_end; ++h) ++seen[static_cast<size_t>(i * heads + h)];
    }
  }
  for (const int count : seen) REQUIRE(count == 1);
}

}  // namespace

TEST_CASE("forward_units cover every query once", "[attention_problem]") {
  const std::vector<int64_t> q{0, 1, 1, 1 + 2 * kQueryBlock, 5 + 3 * kQueryBlock}, k{0, 4, 9, 11, 11};
  int64_t next = 0;
  for (const AttentionUnit& unit : forward_units(q, k, 3)) {
    REQUIRE(unit.q_begin == next);
    REQUIRE(unit.q_end - unit.q_begin <= kQueryBlock);
    REQUIRE(unit.q_begin >= q[unit.item]);
    REQUIRE(unit.q_end <= q[unit.item + 1]);
    REQUIRE(unit.k_begin == k[unit.item]);
    REQUIRE(unit.k_end == k[unit.item + 1]);
    next = unit.q_end;
  }
  REQUIRE(next == q.back());
}

TEST_CASE("backward_plan covers every query and head once", "[attention_problem]") {
  const std::vector<std::vector<int64_t>> batches{{0, 5000}, {0, 0, 3, 700, 701}, {0, 100, 200, 300}};
  for (const auto& q : batches) {
    std::vector<int64_t> k;
    k.reserve(q.size());
    for (const int64_t offset : q) k.push_back(offset / 4);
    for (const int64_t heads : {1, 5, 16}) {
      for (const int64_t width : {0, 6, 100}) {
        require_partition(backward_plan(q, k, heads, 8, 8, {width, width, width}), q, heads);
      }
    }
  }
}

TEST_CASE("backward_plan cuts a large single item and keeps its accumulators small", "[attention_problem]") {
  const int64_t nq = 1000000, nk = 256, heads = 16, c = 16;
  const BackwardPlan plain = backward_plan({0, nq}, {0, nk}, heads, c, c, {});
  REQUIRE(plain.units.size() >= 16);
  const BackwardPlan shared = backward_plan({0, nq}, {0, nk}, heads, c, c, {6, 6});
  REQUIRE(shared.units.size() >= 16);
  const int64_t extra = (shared.splits - 1) * 6 * nq + (shared.groups - 1) * nk * heads * 2 * c;
  REQUIRE(extra < nq * heads * c / 10);
}

TEST_CASE("backward_plan counts every copy where results are rounded", "[attention_problem]") {
  const int64_t nq = 100000, heads = 16, c = 16;
  const auto groups = [&](int64_t nk, bool rounded) {
    return backward_plan({0, nq}, {0, nk}, heads, c, c, {}, rounded).groups;
  };
  REQUIRE(groups(256, true) == 2);
  REQUIRE(groups(1500, false) == 2);
  REQUIRE(groups(1500, true) == 1);
  const auto splits = [&](int64_t width, bool rounded) {
    return backward_plan({0, nq}, {0, 256}, heads, c, c, {width, 0}, rounded).splits;
  };
  REQUIRE(splits(6, false) == 2);
  REQUIRE(splits(6, true) == 1);
}

TEST_CASE("parts of a ragged batch have about equal work", "[attention_problem]") {
  std::vector<int64_t> q{0}, k{0};
  for (int64_t b = 0; b < 260; ++b) {
    q.push_back(q.back() + (b % 65 == 0 ? 1024 : 32));
    k.push_back(k.back() + (b % 65 == 0 ? 256 : 16));
  }
  const BackwardPlan plan = backward_plan(q, k, 16, 8, 8, {6, 6, 96});
  int64_t total = 0, largest_unit = 0, largest_part = 0;
  for (int64_t p = 0; p < plan.part_count(); ++p) {
    int64_t work = 0;
    for (int64_t u = plan.parts[p]; u < plan.parts[p + 1]; ++u) {
      work += plan.units[u].work();
      largest_unit = std::max(largest_unit, plan.units[u].work());
    }
    REQUIRE(work > 0);
    largest_part = std::max(largest_part, work);
    total += work;
  }
  REQUIRE(plan.part_count() > 20);
  REQUIRE(largest_part < total / 200 + 2 * largest_unit);
  REQUIRE(largest_unit < total / 16);
}

TEST_CASE("parts are as few as what each of them keeps allows", "[attention_problem]") {
  std::vector<int64_t> q, k;
  for (int64_t b = 0; b <= 512; ++b) {
    q.push_back(32 * b);
    k.push_back(16 * b);
  }
  const int64_t heads = 16, c = 16, part = 2 * 257 * heads;
  const BackwardPlan plan = backward_plan(q, k, heads, c, c, {0, 256, part});
  REQUIRE(plan.part_count() >= 16);
  REQUIRE(plan.part_count() * part < heads * c * (q.back() + 2 * k.back()) / 10 + (int64_t{1} << 18));
}

TEST_CASE("backward_plan of an empty batch has no units", "[attention_problem]") {
  const BackwardPlan plan = backward_plan({0, 0}, {0, 0}, 2, 3, 3, {});
  REQUIRE(plan.units.empty());
  REQUIRE(plan.part_count() == 0);
}

}  // namespace geosft::test::test_attention_problem
