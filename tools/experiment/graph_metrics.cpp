// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_metrics.h"

#include <ATen/core/Reduction.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "data/read_file.h"
#include "models/training/metrics.h"
#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

constexpr int64_t no_class = -1;

// How a metric is computed from outputs and targets; of classes, from the logits and classes of the known rows.
using Computed = double (*)(const at::Tensor& outputs, const at::Tensor& targets);
using OfBatch = at::Tensor (*)(const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& known);

struct Metric {
  const char* name;
  Computed of_classes, of_values;  // nullptr where a task of that kind does not have it
  bool share = true, lower_is_better = false;
  OfBatch of_batch = nullptr;  // of metrics that can be averaged over batches
};

double class_accuracy(const at::Tensor& outputs, const at::Tensor& truth) {
  return accuracy_score(outputs.argmax(1), truth);
}
double class_macro_f1(const at::Tensor& outputs, const at::Tensor& truth) {
  return macro_f1_score(outputs.argmax(1), truth);
}
double class_roc_auc(const at::Tensor& outputs, const at::Tensor& truth) {
  return one_vs_rest_roc_auc(outputs.to(at::kDouble).softmax(1), truth);
}
at::Tensor batch_accuracy(const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& known) {
  const at::Tensor predicted = outputs.index_select(0, known).argmax(1);
  return (predicted == targets.index_select(0, known)).to(at::kDouble).mean();
}
// Averages over the targets known for any item of the batch.
at::Tensor batch_error(const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor&) {
  return (outputs.to(at::kDouble) - targets.to(at::kDouble)).abs().nanmean(0).nanmean();
}

// The registry of the metrics, which help and error messages read.
constexpr Metric metric_table[] = {
    {"accuracy", class_accuracy, nullptr, true, false, batch_accuracy},
    {"macro_f1", class_macro_f1, nullptr},
    {"roc_auc", class_roc_auc, mean_roc_auc},
    {"average_precision", nullptr, mean_average_precision},
    {"prc_auc", nullptr, mean_prc_auc},
    {"mae", nullptr, mean_absolute_error, false, true, batch_error},
    {"rmse", nullptr, root_mean_squared_error, false, true},
    {"r2", nullptr, r2_score, false},
    {"loss", nullptr, nullptr, false, true},
};

// Returns nullptr for an unknown name.
const Metric* find_metric(const std::string& name) {
  const auto* const found = std::find_if(std::begin(metric_table), std::end(metric_table),
                                         [&](const Metric& metric) { return metric.name == name; });
  return found == std::end(metric_table) ? nullptr : found;
}

// Returns the names of the metrics of a task, the main one first.
std::vector<std::string> metric_names(GraphTask task) {
  if (has_classes(task)) return {"accuracy", "macro_f1", "roc_auc"};
  if (task == GraphTask::multi_label) return {"average_precision", "roc_auc", "prc_auc"};
  if (task == GraphTask::node_multi_label) return {"roc_auc", "average_precision", "prc_auc"};
  return {"mae", "r2", "rmse"};
}

// Splits a setting of metrics at its commas.
std::vector<std::string> names_in(const std::string& metrics) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= metrics.size();) {
    const size_t end = std::min(metrics.find(',', begin), metrics.size());
    names.emplace_back(trimmed(std::string_view(metrics).substr(begin, end - begin)));
    begin = end + 1;
  }
  return names;
}

}  // namespace

std::vector<std::string> all_metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : metric_table) names.emplace_back(metric.name);
  return names;
}

void check_metric(const std::string& metric) {
  if (metric == "auto") return;
  const std::vector<std::string> all = all_metric_names();
  for (const std::string& name : names_in(metric)) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    throw UsageError("metric must be auto, or of " + listed(all) + ", separated by commas, found \"" + name + "\"");
  }
}

at::Tensor known_targets(GraphTask task, const at::Tensor& targets) {
  const at::Tensor known = has_classes(task) ? targets != no_class : targets.flatten().isnan().logical_not();
  return known.nonzero().squeeze(1);
}

at::Tensor graph_loss(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets,
                      const LossOptions& options) {
  return graph_loss(task, outputs, targets, known_targets(task, targets), options);
}

at::Tensor graph_loss(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& known,
                      const LossOptions& options) {
  if (known.size(0) == 0) return outputs.sum() * 0.0;
  if (has_classes(task)) {
    return at::cross_entropy_loss(outputs.index_select(0, known), targets.index_select(0, known), {},
                                  at::Reduction::Mean, no_class, options.label_smoothing);
  }
  const at::Tensor found = outputs.flatten().index_select(0, known);
  const at::Tensor truth = targets.flatten().index_select(0, known).to(outputs.dtype());
  if (task == GraphTask::regression) {
    switch (options.regression) {
      case RegressionLoss::l1:
        return at::l1_loss(found, truth);
      case RegressionLoss::mse:
        return at::mse_loss(found, truth);
      case RegressionLoss::huber:
        return at::huber_loss(found, truth);
    }
  }
  const at::Tensor smooth = truth * (1.0 - options.label_smoothing) + 0.5 * options.label_smoothing;
  return at::binary_cross_entropy_with_logits(found, smooth);
}

double graph_metric(GraphTask task, const std::string& name, const at::Tensor& outputs, const at::Tensor& targets) {
  const std::vector<std::string> names = metric_names(task);
  if (std::find(names.begin(), names.end(), name) == names.end()) throw std::out_of_range("no metric " + name);
  const Metric& metric = *find_metric(name);
  if (!has_classes(task)) return metric.of_values(outputs, targets.to(outputs.dtype()));
  const at::Tensor rows = (targets != no_class).nonzero().squeeze(1);
  return metric.of_classes(outputs.index_select(0, rows), targets.index_select(0, rows));
}

at::Tensor batch_metric(const std::string& name, const at::Tensor& outputs, const at::Tensor& targets,
                        const at::Tensor& known) {
  const Metric* const metric = find_metric(name);
  if (metric != nullptr && metric->of_batch != nullptr) return metric->of_batch(outputs, targets, known);
  return at::full({}, std::numeric_limits<double>::quiet_NaN(), outputs.options().dtype(at::kDouble));
}

NamedValues graph_metrics(GraphTask task, const at::Tensor& outputs, const at::Tensor& targets) {
  NamedValues values;
  for (const std::string& name : metric_names(task)) {
    values.emplace_back(name, graph_metric(task, name, outputs, targets));
  }
  return values;
}

double value_of(const NamedValues& values, const std::string& name) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
  if (found == values.end()) throw std::out_of_range("no value " + name);
  return found->second;
}

ScoreStyle style_of(const std::string& metric) {
  ScoreStyle style;
  style.name = metric;
  style.items = "graphs";
  if (const Metric* const known = find_metric(metric)) {
    style.lower_is_better = known->lower_is_better;
    style.share = known->share;
  }
  return style;
}

ScoreStyle score_style(GraphTask task, const std::string& metric) {
  const std::vector<std::string> names = metric_names(task);
  if (metric == "auto") return style_of(names.front());
  check_metric(metric);
  for (const std::string& name : names_in(metric)) {
    if (name == "loss" || std::find(names.begin(), names.end(), name) != names.end()) return style_of(name);
  }
  throw UsageError("metric " + metric + " does not exist for " + task_name(task) + ", which has " + listed(names));
}

ScoreStyle score_style(const ItemSchema& schema, const std::string& metric) {
  ScoreStyle style = score_style(schema.task, metric);
  style.items = schema.items;
  return style;
}

}  // namespace geosft
