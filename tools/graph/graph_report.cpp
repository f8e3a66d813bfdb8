// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_report.h"

#include <chrono>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/layers/polynomial_self_attention.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/report_texts.h"

namespace geosft {
namespace {

constexpr size_t max_classes = 40;  // more do not fit in a table or picture

at::Tensor confusion_of(const GraphOutputs& outputs) {
  const int64_t classes = outputs.outputs.size(1);
  const at::Tensor rows = (outputs.targets >= 0).nonzero().squeeze(1);
  const at::Tensor cell =
      outputs.targets.index_select(0, rows) * classes + outputs.outputs.index_select(0, rows).argmax(1);
  return at::bincount(cell, {}, classes * classes).view({classes, classes});
}

void compare(GraphReport& report, const at::Tensor& original, const at::Tensor& moved) {
  report.max_logit_difference = std::max(report.max_logit_difference, (moved - original).abs().max().item<double>());
  const double agreeing = (moved.argmax(1) == original.argmax(1)).to(at::kDouble).mean().item<double>();
  report.prediction_agreement += agreeing / static_cast<double>(report.renumberings);
}

std::string class_table(const at::Tensor& confusion, const std::vector<std::string>& names) {
  std::ostringstream out;
  out << '\n'
      << std::left << std::setw(24) << "class" << std::right << std::setw(8) << "count" << std::setw(10) << "right"
      << '\n';
  for (size_t label = 0; label < names.size(); ++label) {
    const at::Tensor row = confusion[static_cast<int64_t>(label)];
    const int64_t total = row.sum().item<int64_t>(), right = row[static_cast<int64_t>(label)].item<int64_t>();
    out << std::left << std::setw(24) << names[label] << std::right << std::setw(8) << total << std::setw(8)
        << std::fixed << std::setprecision(1) << (total > 0 ? 100.0 * double(right) / double(total) : 0.0) << " %\n";
  }
  return out.str();
}

void warn_without_picture(const PlotResult& result) {
  if (!result.drawn) std::cerr << "no picture: " << result.reason << '\n';
}

}  // namespace

GraphReport evaluate_graphs(GraphRunModel& trained, const PackedItems& graphs, const DatasetSplit& split, Part part,
                            int64_t renumberings) {
  const std::vector<int64_t>& items = items_of_part(split, part);
  const int64_t count = static_cast<int64_t>(items.size());
  ProgressBar bar("evaluating", (1 + renumberings) * count);
  const auto start = std::chrono::steady_clock::now();
  const auto outputs = [&](int64_t pass) {
    const auto seed = pass == 0 ? std::nullopt : std::optional(static_cast<uint64_t>(pass) + trained.settings.seed);
    return run_outputs(trained, graphs, items, part, seed, [&](int64_t done) {
      bar.update(pass * count + done);
      throw_if_interrupted("in the middle of an evaluation");
    });
  };
  const GraphOutputs original = outputs(0);
  GraphReport report;
  report.task = graphs.schema.task;
  report.part = part;
  report.items = graphs.schema.items;
  report.count = count;
  report.metrics = evaluation_metrics(trained.model, report.task, original, trained.settings.train.evaluation_loss());
  if (has_classes(report.task)) report.confusion = confusion_of(original);
  report.degrees = worst_degrees(*trained.model);
  report.head_distances = mean_head_distances(*trained.model);
  report.renumberings = renumberings;
  if (renumberings > 0) report.prediction_agreement = 0.0;
  for (int64_t pass = 1; pass <= renumberings; ++pass) compare(report, original.outputs, outputs(pass).outputs);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.items_per_second = static_cast<double>((1 + renumberings) * count) / seconds;
  return report;
}

nlohmann::json report_json(const GraphReport& report) {
  nlohmann::json metrics = nlohmann::json::object();
  for (const auto& [name, value] : report.metrics) metrics[name] = value;
  nlohmann::json json{{"task", task_name(report.task)},
                      {"split", part_name(report.part)},
                      {"count", report.count},
                      {"rotation", "none"},
                      {"repeats", 1},
                      {"metrics", metrics},
                      {report.items + "_per_second", report.items_per_second}};
  if (report.items == "graphs") {
    json["renumberings"] = report.renumberings;
    json["max_logit_difference"] = report.max_logit_difference;
    if (report.confusion.defined()) json["prediction_agreement"] = report.prediction_agreement;
  }
  if (!report.degrees.empty()) json["attention"] = attention_json(report.degrees);
  for (const MeanHeadDistance& layer : report.head_distances) {
    json["head_distances"].push_back({{"tokens", layer.tokens}, {"items", layer.items}});
  }
  return json;
}

std::string metrics_text(const NamedValues& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) text += (text.empty() ? "" : "  ") + style_of(name).text(value);
  return text;
}

std::string report_text(const GraphReport& report, const std::vector<std::string>& names) {
  std::ostringstream out;
  out << report.count << " " << report.items << " of the " << part_name(report.part) << " part\n"
      << metrics_text(report.metrics) << std::fixed << std::setprecision(0) << "  (" << report.items_per_second << " "
      << report.items << "/s)\n";
  if (report.renumberings > 0) {
    out << std::defaultfloat << std::setprecision(3) << "largest difference of an output when nodes are renumbered "
        << report.max_logit_difference;
    if (report.confusion.defined()) {
      out << "; same prediction in " << std::fixed << std::setprecision(1) << 100 * report.prediction_agreement << " %";
    }
    out << '\n';
  }
  out << attention_text(report.degrees);
  for (size_t layer = 0; layer < report.head_distances.size(); ++layer) {
    const MeanHeadDistance& distance = report.head_distances[layer];
    out << "layer " << layer + 1 << ": the attention of two heads is " << std::fixed << std::setprecision(3)
        << distance.items << " apart (L2, of " << report.items << "), that of a token " << distance.tokens << '\n';
  }
  if (report.confusion.defined() && names.size() <= max_classes) out << class_table(report.confusion, names);
  return out.str();
}

void draw_report(const GraphReport& report, const std::vector<std::string>& names, const RunFolder& folder) {
  if (!report.confusion.defined() || names.size() > max_classes) return;
  warn_without_picture(
      plot_confusion_matrix(report.confusion, names, folder.confusion(part_name(report.part)),
                            std::string(part_name(report.part)) + " part: " + metrics_text({report.metrics.front()})));
}

}  // namespace geosft
