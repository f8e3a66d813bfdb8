// SPDX-License-Identifier: Apache-2.0
// Loss and metrics of each task on graphs.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

#include "data/packed_items.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft {

// The mean over what is not missing, to be differentiated: cross entropy of classes, binary cross entropy of labels,
// absolute error of (standardised) targets. Targets as in PackedItems; where all are missing the loss is 0.
at::Tensor graph_loss(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets,
                      double label_smoothing = 0.0);

// The places, int64 [terms], of the targets that are not missing: rows of classes, entries of the others one row after
// the other. The loss over these, which then looks for none: nothing waits for a GPU.
at::Tensor known_targets(GraphTask task, const at::Tensor& targets);
at::Tensor graph_loss(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& known,
                      double label_smoothing);

// Values by name; what a task goes by comes first.
using NamedValues = std::vector<std::pair<std::string, double>>;

//   classification       accuracy, macro_f1, roc_auc (one class against the rest)
//   node_classification  the same over the nodes that have a class
//   multi_label          average_precision, roc_auc (means over labels)
//   node_multi_label     roc_auc, average_precision: the same over the nodes, in the order of OGB's sets of nodes
//   regression           mae, r2 (means over targets); outputs and targets in the dataset's units
NamedValues graph_metrics(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets);

// One of them; throws std::out_of_range for another task's.
double graph_metric(GraphTask task, const std::string& name, const at::Tensor& outputs, const at::Tensor& targets);

// The same over a batch, where it means the same as over a whole part (accuracy, mae), of the targets with the numbers
// `known` (known_targets): float64 [], on the device of the outputs, which is not waited for. NaN for other metrics.
at::Tensor batch_metric(const std::string& name, const at::Tensor& outputs, const at::Tensor& targets,
                        const at::Tensor& known);

// The value of this name; throws std::out_of_range when it is not there.
double value_of(const NamedValues& values, const std::string& name);

// The metric that a run goes by: `wanted`, or for "auto" the first of the task. Throws UsageError naming the task's
// metrics when it has no such one.
ScoreStyle score_style(GraphTask task, const std::string& wanted);
// The same with the name of the schema's items.
ScoreStyle score_style(const ItemSchema& schema, const std::string& wanted);

// Whether a metric is a share that is shown in percent, and whether it is better when it is low.
ScoreStyle style_of(const std::string& metric);

}  // namespace geosft
