// SPDX-License-Identifier: Apache-2.0
#include "graph/walk_plan.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/graph/graphs.h"

namespace geosft::test::test_walk_plan {

namespace {

WalkPlan plan_of(const CsrGraph& graph, int64_t steps) {
  return plan_walks(prepare_walks<float>(graph.rowptr, graph.col, std::nullopt), steps);
}

bool any_alone(const WalkPlan& plan) {
  return std::any_of(plan.patches.begin(), plan.patches.end(), [](const WalkPatch& patch) { return patch.alone; });
}

}  // namespace

TEST_CASE("plan_walks: every node of every component once") {
  const CsrGraph graph = test::undirected_graph(500, 300, 1);
  const WalkGraph<float> walks = prepare_walks<float>(graph.rowptr, graph.col, std::nullopt);
  int64_t covered = 0;
  for (const auto& [component, first, alone] : plan_walks(walks, 8).patches) {
    const int64_t size = walks.order.component_begin[component + 1] - walks.order.component_begin[component];
    REQUIRE(first < size);
    covered += std::min(walk_sources<float>, size - first);
  }
  REQUIRE(covered == 500);
}

TEST_CASE("plan_walks: nodes are followed alone where a large graph grows like a tree, and nowhere else") {
  REQUIRE_FALSE(any_alone(plan_of(test::torus(200), 8)));
  const CsrGraph tree_like = test::undirected_graph(40000, 60000, 2);
  const WalkPlan plan = plan_of(tree_like, 8);
  REQUIRE(any_alone(plan));
  REQUIRE(plan.largest_alone > plan.largest_together);
  REQUIRE_FALSE(any_alone(plan_of(test::undirected_graph(4000, 6000, 2), 8)));
  REQUIRE_FALSE(any_alone(plan_of(test::random_graph(40000, 60000, 2), 8)));  // not symmetric
}

}  // namespace geosft::test::test_walk_plan
