// SPDX-License-Identifier: Apache-2.0
// Decides which nodes are propagated in patches and which alone.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/walk_graph.h"

namespace geosft {

struct WalkPatch {
  int64_t component, first;  // the component, and the patch's first row within it
  bool alone;                // nodes are processed one at a time (SourceWalker), otherwise all at once
};

struct WalkPlan {
  std::vector<WalkPatch> patches;
  int64_t largest_together = 0, largest_alone = 0;  // rows of the largest component of each kind
};

// Depends only on the graph and the number of steps.
template <typename T>
WalkPlan plan_walks(const WalkGraph<T>& graph, int64_t steps);

}  // namespace geosft
