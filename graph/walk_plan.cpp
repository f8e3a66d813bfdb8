// SPDX-License-Identifier: Apache-2.0
#include "graph/walk_plan.h"

#include <algorithm>

#include "graph/walk_reach.h"

namespace geosft {
namespace {

// Up to this many rows, the values of a component stay in the L2 cache, where a step of a whole patch costs little more
// than that of a single node.
constexpr int64_t cached_rows = 1 << 15;
// Beyond that, a row of a patch costs as much as this many single nodes (measured on random graphs of 40,000 to
// 1,000,000 nodes).
constexpr int64_t row_cost = 3;
constexpr int64_t probes = 5;

// Returns the number of rows that walks from `count` rows visit within `steps` steps, summed over the steps.
template <typename T>
int64_t rows_visited(const WalkGraph<T>& graph, WalkReach& reach, int64_t component, int64_t size, int64_t first,
                     int64_t count, int64_t steps) {
  int64_t visited = 0;
  reach.start(first, count);
  for (int64_t t = 0; t < steps; ++t) {
    if (reach.size() < size) reach.expand(graph.out, component);
    visited += reach.size();
  }
  return visited;
}

// Estimates whether walks from single nodes are cheaper than from patches, by the rows that patches and their middle
// nodes visit.
template <typename T>
bool walks_part_quickly(const WalkGraph<T>& graph, int64_t c, int64_t steps) {
  const int64_t component = graph.order.component_begin[c], size = graph.order.component_begin[c + 1] - component;
  if (!graph.symmetric || size <= cached_rows) return false;
  constexpr int64_t sources = walk_sources<T>;
  WalkReach reach(size);
  int64_t together = 0, alone = 0;
  for (int64_t probe = 0; probe < probes; ++probe) {
    const int64_t first = size / sources * probe / probes * sources;
    together += rows_visited(graph, reach, component, size, first, sources, (steps + 1) / 2);
    alone += rows_visited(graph, reach, component, size, first + sources / 2, 1, (steps + 1) / 2) * sources;
  }
  return alone < row_cost * together;
}

}  // namespace

template <typename T>
WalkPlan plan_walks(const WalkGraph<T>& graph, int64_t steps) {
  WalkPlan plan;
  for (int64_t c = 0; c < graph.order.components(); ++c) {
    const int64_t size = graph.order.component_begin[c + 1] - graph.order.component_begin[c];
    const bool alone = walks_part_quickly(graph, c, steps);
    int64_t& largest = alone ? plan.largest_alone : plan.largest_together;
    largest = std::max(largest, size);
    for (int64_t first = 0; first < size; first += walk_sources<T>) plan.patches.push_back({c, first, alone});
  }
  return plan;
}

template WalkPlan plan_walks<float>(const WalkGraph<float>&, int64_t);
template WalkPlan plan_walks<double>(const WalkGraph<double>&, int64_t);

}  // namespace geosft
