// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/report.h"

#include <chrono>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/layers/polynomial_self_attention.h"
#include "tools/classify/datasets.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/report_texts.h"

namespace geosft {
EvaluationReport evaluate(RunModel& trained, const std::string& split, Rotation rotation, int64_t repeats) {
  const ClassifySettings& settings = trained.settings;
  const auto dataset = open_dataset(settings, split == "train" ? Split::train : Split::test);
  if (dataset->class_names() != trained.class_names) {
    throw DataError(settings.data,
                    "the " + std::to_string(trained.class_names.size()) + " classes of the trained model",
                    std::to_string(dataset->class_names().size()) + " classes, or other names");
  }
  if (settings.clouds.normals) require_normals(*dataset, settings.data);
  EvaluationReport report{split, dataset->size(), rotation, repeats, {}, std::nullopt, 0.0};
  const int64_t passes = rotation == Rotation::none ? 1 : repeats + 1;  // the first pass is upright
  const int64_t clouds = dataset->size() * settings.evaluation.votes;
  ProgressBar bar("evaluating", passes * clouds);
  const auto start = std::chrono::steady_clock::now();
  std::vector<DatasetLogits> evaluations;
  for (int64_t pass = 0; pass < passes; ++pass) {
    const auto advance = [&](int64_t done) {
      bar.update(pass * clouds + done);
      throw_if_interrupted("in the middle of an evaluation");
    };
    evaluations.push_back(
        dataset_logits(trained.model, *dataset, settings, pass == 0 ? Rotation::none : rotation, pass, advance));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.clouds_per_second = static_cast<double>(passes * clouds) / seconds;
  if (rotation != Rotation::none) {
    const DatasetLogits upright = evaluations.front();
    evaluations.erase(evaluations.begin());
    report.invariance = invariance(upright, evaluations);
  }
  report.metrics = classification_metrics(evaluations);
  report.degrees = worst_degrees(*trained.model);
  return report;
}

nlohmann::json evaluation_json(const EvaluationReport& report) {
  nlohmann::json json{{"task", "classification"},
                      {"split", report.split},
                      {"count", report.count},
                      {"rotation", rotation_name(report.rotation)},
                      {"repeats", report.repeats},
                      {"metrics",
                       {{"accuracy", report.metrics.accuracy},
                        {"mean_class_accuracy", report.metrics.mean_class_accuracy},
                        {"loss", report.metrics.loss}}},
                      {"clouds_per_second", report.clouds_per_second}};
  set_invariance(json, report.invariance);
  if (!report.degrees.empty()) json["attention"] = attention_json(report.degrees);
  return json;
}

std::string evaluation_text(const EvaluationReport& report, const std::vector<std::string>& class_names) {
  std::ostringstream out;
  out << report.count << " clouds of the " << report.split << " set, " << rotation_text(report.rotation);
  if (report.rotation != Rotation::none) out << " " << report.repeats << (report.repeats == 1 ? " time" : " times");
  out << "\naccuracy " << percent(report.metrics.accuracy) << "  mean of classes "
      << percent(report.metrics.mean_class_accuracy) << "  loss " << std::setprecision(4) << report.metrics.loss
      << "  (" << std::setprecision(0) << std::fixed << report.clouds_per_second << " clouds/s)\n";
  out << invariance_text(report.invariance);
  out << attention_text(report.degrees) << '\n'
      << std::left << std::setw(24) << "class" << std::right << std::setw(8) << "clouds" << std::setw(10) << "right"
      << '\n';
  for (size_t label = 0; label < class_names.size(); ++label) {
    const at::Tensor row = report.metrics.confusion[static_cast<int64_t>(label)];
    const int64_t total = row.sum().item<int64_t>();
    const double right = row[static_cast<int64_t>(label)].item<double>();
    out << std::left << std::setw(24) << class_names[label] << std::right << std::setw(8) << total << std::setw(10)
        << (total > 0 ? percent(right / static_cast<double>(total)) : "-") << '\n';
  }
  return out.str();
}

void draw_confusion(const EvaluationReport& report, const std::vector<std::string>& class_names,
                    const RunFolder& folder) {
  const std::string title =
      std::string(report.split) + " set, " + rotation_text(report.rotation) + ": " + percent(report.metrics.accuracy);
  const std::string name =
      (std::string(report.split) == "test" ? "" : std::string(report.split) + "_") + rotation_name(report.rotation);
  warn_unless_drawn(plot_confusion_matrix(report.metrics.confusion, class_names, folder.confusion(name), title));
}

}  // namespace geosft
