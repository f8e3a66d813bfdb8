// SPDX-License-Identifier: Apache-2.0
// Computes loss and metrics of each graph task.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

#include "data/packed_items.h"
#include "tools/experiment/enum_names.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft {

enum class RegressionLoss { l1, mse, huber };
GEOSFT_ENUM_NAMES(RegressionLoss, l1, mse, huber);

struct LossOptions {
  double label_smoothing = 0.0;
  RegressionLoss regression = RegressionLoss::l1;  // of standardised targets; huber has a threshold of 1
};

// Returns the differentiable mean loss over the known targets: cross entropy for classes, binary cross entropy for
// labels, the error that `options` names for (standardised) regression. Targets as in PackedItems; 0 if all are
// missing.
at::Tensor graph_loss(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets,
                      const LossOptions& options = {});

// Returns the indices, int64 [terms], of the known targets: rows for classes, row-major entries for the others.
// graph_loss with these indices does not synchronise with the GPU.
at::Tensor known_targets(GraphTask task, const at::Tensor& targets);
at::Tensor graph_loss(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& known,
                      const LossOptions& options);

// Named values; the main metric of the task comes first.
using NamedValues = std::vector<std::pair<std::string, double>>;

// Returns the metrics of a task:
//   classification       accuracy, macro_f1, roc_auc (one-vs-rest)
//   node_classification  same, over the nodes that have a class
//   multi_label          average_precision, roc_auc, prc_auc (means over labels)
//   node_multi_label     roc_auc, average_precision, prc_auc: same, over the nodes, in the order of OGB's node datasets
//   regression           mae, r2, rmse (means over targets); outputs and targets in the dataset's units
NamedValues graph_metrics(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets);

// Returns the names of all metrics and "loss", for help and messages.
std::vector<std::string> all_metric_names();

// Returns one of these metrics; throws std::out_of_range for another task's metric.
double graph_metric(GraphTask task, const std::string& name, const at::Tensor& outputs, const at::Tensor& targets);

// Returns the same for a batch, over the targets `known` (known_targets): float64 [] on the device of the outputs,
// without synchronisation. NaN for metrics that cannot be averaged over batches (other than accuracy, mae).
at::Tensor batch_metric(const std::string& name, const at::Tensor& outputs, const at::Tensor& targets,
                        const at::Tensor& known);

// Returns the value of this name; throws std::out_of_range if it is missing.
double value_of(const NamedValues& values, const std::string& name);

// Throws UsageError unless `metric` is "auto" or has only names that some task knows, separated by commas.
void check_metric(const std::string& metric);

// Returns the style of the metric that selects the checkpoint: the first of the names in `metric`, separated by commas,
// that is a metric of the task or "loss", or for "auto" the first of the task. Throws UsageError for a name that no
// task has, and, listing the task's metrics, if it has none of them.
ScoreStyle score_style(GraphTask task, const std::string& metric);
// Returns the same, with the item name of the schema.
ScoreStyle score_style(const ItemSchema& schema, const std::string& metric);

// Returns whether a metric is a share shown in percent, and whether lower is better.
ScoreStyle style_of(const std::string& metric);

}  // namespace geosft
