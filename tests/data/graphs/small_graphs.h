// SPDX-License-Identifier: Apache-2.0
// Small graph datasets in memory and on disk.
#pragma once

#include "data/packed_items.h"
#include "tests/graph/featured.h"

namespace geosft::test {

// Seven graphs of 1 to 6 nodes with every kind of feature, of the given task.
inline PackedItems small_graphs(GraphTask task = GraphTask::classification) {
  PackedItems packed;
  static_cast<FeaturedGraphs&>(packed) = featured_graphs({3, 1, 6, 2, 4, 5, 3}, 21);
  packed.node_encoding = at::Tensor();
  packed.schema = {task, {3, 5}, 2, {4}, 2, true, {"a", "b", "c"}};
  at::Generator random = generator(99);
  const int64_t nodes = packed.graphs.graph.nodes();
  if (task == GraphTask::classification) packed.target = at::arange(7) % 3;
  if (task == GraphTask::node_classification) packed.target = at::randint(-1, 3, {nodes}, random, at::kLong);
  if (task == GraphTask::regression) packed.target = at::randn({7, 3}, random) * 5 + 20;
  if (has_labels(task)) {
    packed.target = at::randint(0, 2, {is_of_nodes(task) ? nodes : 7, 3}, random, at::kLong).to(at::kFloat);
  }
  return packed;
}

}  // namespace geosft::test
