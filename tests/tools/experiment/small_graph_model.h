// SPDX-License-Identifier: Apache-2.0
// A graph model that runs in milliseconds, for the small graphs.
#pragma once

#include "tests/data/graphs/small_graphs.h"
#include "tests/tools/experiment/small_sizes.h"
#include "tools/experiment/graph_learning.h"

namespace geosft::test {

inline GraphSettings small_graph_settings() {
  GraphSettings settings;
  settings.data = "somewhere";
  set_small_sizes(settings, {.depth = 1, .num_samples = 3, .batch_size = 3, .evaluation_batch = 2});
  return settings;
}

inline GraphRun small_graph_run(const ItemSchema& schema, const GraphSettings& settings = small_graph_settings()) {
  at::manual_seed(5);
  GraphRun run{{schema}, settings};
  run.model = GraphModel(run.settings.graph_model(schema));
  run.model->eval();
  return run;
}

}  // namespace geosft::test
