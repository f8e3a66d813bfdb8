// SPDX-License-Identifier: Apache-2.0
// The kernel regression of a run of graphs, whose predictions are averaged with those of its networks.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>

#include "data/packed_items.h"
#include "models/graph_model.h"
#include "tools/experiment/graph_settings.h"
#include "tools/experiment/run_kernel.h"

namespace geosft {

struct GraphKernel : RunKernel {
  GraphKernel() : RunKernel("geosft-graph", 0.5) { average_logits = true; }

  // Averages the outputs of networks with the predictions of the regression, [n, outputs] each: standardised targets,
  // or logits of labels or classes; without average_logits, probabilities of labels. Returns outputs of the same kind.
  at::Tensor averaged(const GraphModel& model, GraphTask task, const at::Tensor& outputs,
                      const at::Tensor& predictions) const;
};

// Says why a kernel regression is not fitted to such data; empty if it is. It has a training for each target, and one
// for all classes.
std::string kernel_obstacle(const PackedItems& graphs, int64_t training_items);

// Trains a random forest of labels on the fingerprints of the training split; descriptors are left to the regression.
RandomForest fit_graph_forest(const PackedItems& graphs, const std::vector<int64_t>& items,
                              const GraphSettings& settings);

// Fits the regression to the training split; the groups that choose its hyperparameters are scaffolds of molecules.
KernelRidge fit_graph_kernel(const PackedItems& graphs, const std::vector<int64_t>& items,
                             const GraphSettings& settings);

}  // namespace geosft
