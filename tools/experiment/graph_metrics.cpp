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

std::vector<std::string> metric_names(GraphTask task) {
  if (has_classes(task)) return {"accuracy", "macro_f1", "roc_auc"};
  if (task == GraphTask::multi_label) return {"average_precision", "roc_auc", "prc_auc"};
  if (task == GraphTask::node_multi_label) return {"roc_auc", "average_precision", "prc_auc"};
  return {"mae", "r2", "rmse"};
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Throws UsageError for a name that is no metric of any task.
void check_metric_name(const std::string& name) {
  std::vector<std::string> all;
  for (const GraphTask task : graph_tasks) {
    for (const std::string& each : metric_names(task)) {
      if (each == name) return;
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
  }
  throw UsageError("metric must be auto, loss, or of " + listed(all) + ", separated by commas, found \"" + name + "\"");
}

double class_metric(const std::string& name, const at::Tensor& outputs, const at::Tensor& targets) {
  const at::Tensor rows = (targets != no_class).nonzero().squeeze(1);
  const at::Tensor known = outputs.index_select(0, rows), truth = targets.index_select(0, rows);
  if (name == "roc_auc") return one_vs_rest_roc_auc(known.to(at::kDouble).softmax(1), truth);
  const at::Tensor predicted = known.argmax(1);
  return name == "accuracy" ? accuracy_score(predicted, truth) : macro_f1_score(predicted, truth);
}

}  // namespace

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
  if (has_classes(task)) return class_metric(name, outputs, targets);
  const at::Tensor exact = targets.to(outputs.dtype());
  if (name == "average_precision") return mean_average_precision(outputs, exact);
  if (name == "roc_auc") return mean_roc_auc(outputs, exact);
  if (name == "prc_auc") return mean_prc_auc(outputs, exact);
  if (name == "rmse") return root_mean_squared_error(outputs, exact);
  return name == "mae" ? mean_absolute_error(outputs, exact) : r2_score(outputs, exact);
}

at::Tensor batch_metric(const std::string& name, const at::Tensor& outputs, const at::Tensor& targets,
                        const at::Tensor& known) {
  if (name == "accuracy") {
    const at::Tensor predicted = outputs.index_select(0, known).argmax(1);
    return (predicted == targets.index_select(0, known)).to(at::kDouble).mean();
  }
  // Averages over the targets known for any item of the batch.
  if (name == "mae") return (outputs.to(at::kDouble) - targets.to(at::kDouble)).abs().nanmean(0).nanmean();
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
  style.lower_is_better = metric == "mae" || metric == "rmse" || metric == "loss";
  style.share = !style.lower_is_better && metric != "r2";
  return style;
}

ScoreStyle score_style(GraphTask task, const std::string& wanted) {
  const std::vector<std::string> names = metric_names(task);
  if (wanted == "auto") return style_of(names.front());
  for (size_t begin = 0; begin <= wanted.size();) {
    const size_t end = std::min(wanted.find(',', begin), wanted.size());
    const std::string name(trimmed(std::string_view(wanted).substr(begin, end - begin)));
    if (name == "loss" || std::find(names.begin(), names.end(), name) != names.end()) return style_of(name);
    check_metric_name(name);
    begin = end + 1;
  }
  throw UsageError("metric " + wanted + " does not exist for " + task_name(task) + ", which has " + listed(names));
}

ScoreStyle score_style(const ItemSchema& schema, const std::string& wanted) {
  ScoreStyle style = score_style(schema.task, wanted);
  style.items = schema.items;
  return style;
}

}  // namespace geosft
