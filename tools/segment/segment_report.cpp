// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_report.h"

#include <chrono>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/layers/polynomial_self_attention.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/report_texts.h"

namespace geosft {
namespace {

nlohmann::json scores_json(const SegmentScores& scores) {
  return {{"instance_iou", scores.parts.instance_iou},
          {"class_iou", scores.parts.class_iou},
          {"accuracy", scores.parts.accuracy},
          {"mean_part_accuracy", scores.parts.mean_part_accuracy},
          {"loss", scores.loss}};
}

std::string scores_text(const SegmentScores& scores) {
  std::ostringstream out;
  out << "instance IoU " << percent(scores.parts.instance_iou) << "  class IoU " << percent(scores.parts.class_iou)
      << "  part accuracy " << percent(scores.parts.accuracy) << "  mean of parts "
      << percent(scores.parts.mean_part_accuracy) << "  loss " << std::setprecision(4) << scores.loss;
  return out.str();
}

// Returns the loss of IoU on rotated copies, in percentage points.
double lost_points(const SegmentEvaluation& evaluation) {
  return 100 * (evaluation.upright->parts.instance_iou - evaluation.scores.parts.instance_iou);
}

}  // namespace

PartSplit part_split_of(const std::string& name) {
  if (name == "train") return PartSplit::train;
  if (name == "validation") return PartSplit::validation;
  TORCH_CHECK(name == "test", "split must be train, validation or test, not ", name);
  return PartSplit::test;
}

SegmentReport evaluate(SegmentRun& trained, const std::string& split, Rotation rotation, int64_t repeats) {
  const auto dataset = open_part_dataset(trained.settings.data, part_split_of(split));
  check_same_parts(trained, *dataset);
  SegmentReport report{split, dataset->size(), rotation, repeats, {}, 0.0};
  const int64_t copies = dataset->size() * (rotation == Rotation::none ? 1 : repeats + 1);
  ProgressBar bar("evaluating", copies);
  const auto start = std::chrono::steady_clock::now();
  const auto advance = [&](int64_t done) {
    bar.update(done);
    throw_if_interrupted("in the middle of an evaluation");
  };
  const at::Tensor mask = part_mask(trained.parts, static_cast<int64_t>(trained.class_names.size()));
  report.evaluation = evaluate_parts(trained.model, *dataset, trained.settings, mask, rotation, repeats, advance);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.clouds_per_second = static_cast<double>(copies * trained.settings.evaluation.votes) / seconds;
  report.degrees = worst_degrees(*trained.model);
  return report;
}

nlohmann::json segment_json(const SegmentReport& report, const std::vector<std::string>& class_names) {
  nlohmann::json json{{"task", "segmentation"},
                      {"split", report.split},
                      {"count", report.count},
                      {"rotation", rotation_name(report.rotation)},
                      {"repeats", report.repeats},
                      {"metrics", scores_json(report.evaluation.scores)},
                      {"clouds_per_second", report.clouds_per_second}};
  if (report.evaluation.upright) {
    json["upright"] = scores_json(*report.evaluation.upright);
    json["lost_points"] = lost_points(report.evaluation);
  }
  for (size_t label = 0; label < class_names.size(); ++label) {
    const ClassPartScores& scores = report.evaluation.scores.parts.classes[label];
    nlohmann::json row{{"class", class_names[label]}, {"shapes", scores.shapes}};
    if (scores.shapes > 0) row["iou"] = scores.iou, row["accuracy"] = scores.accuracy;
    json["classes"].push_back(row);
  }
  set_invariance(json, report.evaluation.invariance);
  if (!report.degrees.empty()) json["attention"] = attention_json(report.degrees);
  return json;
}

std::string segment_text(const SegmentReport& report, const std::vector<std::string>& class_names) {
  std::ostringstream out;
  const SegmentEvaluation& evaluation = report.evaluation;
  out << report.count << " clouds of the " << report.split << " set, " << rotation_text(report.rotation);
  if (evaluation.upright) out << " " << report.repeats << (report.repeats == 1 ? " time" : " times");
  out << "\n"
      << scores_text(evaluation.scores) << "  (" << std::fixed << std::setprecision(0) << report.clouds_per_second
      << " clouds/s)\n";
  if (evaluation.upright) {
    out << "upright: " << scores_text(*evaluation.upright) << "\nlost by rotating: " << std::setprecision(2)
        << lost_points(evaluation) << " points of instance IoU\n";
  }
  out << invariance_text(evaluation.invariance) << attention_text(report.degrees) << '\n'
      << std::left << std::setw(24) << "class" << std::right << std::setw(8) << "clouds" << std::setw(10) << "IoU"
      << std::setw(10) << "points" << '\n';
  for (size_t label = 0; label < class_names.size(); ++label) {
    const ClassPartScores& scores = evaluation.scores.parts.classes[label];
    const bool seen = scores.shapes > 0;
    out << std::left << std::setw(24) << class_names[label] << std::right << std::setw(8) << scores.shapes
        << std::setw(10) << (seen ? percent(scores.iou) : "-") << std::setw(10)
        << (seen ? percent(scores.accuracy) : "-") << '\n';
  }
  return out.str();
}

}  // namespace geosft
