// SPDX-License-Identifier: Apache-2.0
// Evaluates a trained run on a split of its point clouds, and formats the result as text and JSON.
#pragma once

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "models/layers/polynomial_self_attention.h"
#include "models/training/metrics.h"
#include "tools/experiment/cloud_checks.h"
#include "tools/experiment/cloud_training_data.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/estimated_normals.h"
#include "tools/experiment/invariance.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/shape_folders.h"
#include "tools/experiment/trained_run.h"

namespace geosft {

// For Experiment see cloud_commands.h.
template <class Experiment>
struct CloudReport {
  std::string split;
  int64_t count = 0;  // clouds in the split
  Rotation rotation = Rotation::none;
  int64_t repeats = 1;
  typename Experiment::Evaluation evaluation;
  double clouds_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};  // one per layer with polynomial attention
  std::string note = {};                       // lines: normals that are estimated or have a fault, points left out
  std::vector<std::string> broken = {};        // the errors of the files that were left out
};

// Returns those clouds of the files of a split that split.csv of the RUN lists in it (recorded_clouds).
template <class Experiment>
std::unique_ptr<PointDataset> recorded_split(const TrainedRun<typename Experiment::Task>& trained,
                                             const std::string& split, std::unique_ptr<PointDataset> files) {
  const std::vector<std::string> splits = Experiment::recorded_splits(trained.settings, split);
  const bool some_listed = splits.front() == "train" && trained.settings.clouds.max_per_class > 0;
  return recorded_clouds(trained.split_file_of_data(), splits, std::move(files), split, some_listed,
                         trained.settings.data);
}

// Opens the clouds of a split of the dataset in the settings: of the data of the training those that split.csv of the
// RUN lists in it. Throws DataError if the dataset has other outputs than the model, or other clouds than split.csv
// lists.
template <class Experiment>
std::unique_ptr<PointDataset> open_split(const TrainedRun<typename Experiment::Task>& trained,
                                         const std::string& split) {
  return recorded_split<Experiment>(trained, split, Experiment::open_files(trained, split));
}

// Evaluates a split of the dataset in the settings, with `repeats` rotations per cloud and progress on stderr, and with
// the clouds' own normals or, also where they have some, estimated ones. Throws Interrupted if a signal arrives
// meanwhile, DataError as open_split does, UsageError if the model takes no normals that could be estimated.
template <class Experiment>
CloudReport<Experiment> evaluate(TrainedRun<typename Experiment::Task>& trained, const std::string& split,
                                 Rotation rotation, int64_t repeats, bool estimated_normals = false) {
  auto dataset = open_split<Experiment>(trained, split);
  if (estimated_normals) {
    if (!trained.settings.clouds.normals) throw UsageError("--estimated-normals: the model takes no normals");
    dataset =
        with_estimated_normals(std::move(dataset), trained.settings.data, trained.settings.clouds.normal_orientation);
  }
  const bool own_normals =
      trained.settings.clouds.normals && !estimated_normals && !trained.settings.augment.only_estimated_normals();
  const std::string faults = own_normals ? sampled_normal_faults(*dataset, trained.settings.data) : "";
  CloudReport<Experiment> report{split, dataset->size(), rotation, repeats, {}};
  const int64_t passes = rotation == Rotation::none ? 1 : repeats + 1;  // the first pass is upright
  const int64_t clouds = passes * dataset->size() * trained.settings.evaluation.votes;
  report.clouds_per_second = evaluation_rate(clouds, [&](const auto& progress) {
    report.evaluation = Experiment::evaluate(trained, *dataset, rotation, repeats, progress);
  });
  report.degrees = worst_degrees(*trained.model);
  report.note = estimation_note(*dataset);
  const auto add_note = [&](const std::string& note) {
    if (!note.empty()) report.note += (report.note.empty() ? "" : "\n") + note;
  };
  if (!faults.empty()) {
    add_note(faults +
             ", and may mislead a model that learned from others (--estimated-normals evaluates with estimated ones)");
  }
  if constexpr (requires { Experiment::evaluation_note(report.evaluation, split); }) {
    add_note(Experiment::evaluation_note(report.evaluation, trained.settings.data + " (" + split + ")"));
  }
  report.broken = broken_files(dataset->warnings());
  return report;
}

template <class Experiment>
nlohmann::json report_json(const CloudReport<Experiment>& report, const typename Experiment::Task::Outputs& outputs) {
  nlohmann::json json{{"task", Experiment::name},
                      {"split", report.split},
                      {"count", report.count},
                      {"rotation", name_of(report.rotation)},
                      {"repeats", report.repeats},
                      {"metrics", Experiment::metrics_json(report.evaluation)},
                      {"clouds_per_second", report.clouds_per_second}};
  Experiment::add_json(json, report.evaluation, outputs);
  if constexpr (requires { Experiment::accuracy(report.evaluation); }) {
    json["accuracy_interval"] = share_interval(Experiment::accuracy(report.evaluation), report.count);
  }
  set_invariance(json, report.evaluation.invariance);
  if (!report.degrees.empty()) json["attention"] = attention_json(report.degrees);
  if (!report.broken.empty()) json["left_out"] = report.broken;
  return json;
}

// Returns how far the accuracy of few clouds may be from that of many, as a line; empty for a metric without an
// interval, and for many clouds.
template <class Experiment>
std::string interval_text(const CloudReport<Experiment>& report) {
  constexpr int64_t many = 100;
  if constexpr (requires { Experiment::accuracy(report.evaluation); }) {
    if (report.count >= many) return "";
    const auto [low, high] = share_interval(Experiment::accuracy(report.evaluation), report.count);
    return "for so few clouds the 95 % interval of the accuracy is " + percent(low) + " to " + percent(high) + "\n";
  }
  return "";
}

// Returns a line with the expected calibration error; empty without confidences.
template <class Experiment>
std::string calibration_text(const CloudReport<Experiment>& report) {
  if constexpr (requires { Experiment::reliability(report.evaluation); }) {
    return geosft::calibration_text(Experiment::reliability(report.evaluation));
  }
  return "";
}

// Returns overall metrics, then a table with one line per class.
template <class Experiment>
std::string report_text(const CloudReport<Experiment>& report, const typename Experiment::Task::Outputs& outputs) {
  std::ostringstream out;
  out << report.count << " clouds of the " << report.split << " set, " << rotation_text(report.rotation);
  if (report.rotation != Rotation::none) {
    out << (report.repeats == 1 ? " once" : " " + std::to_string(report.repeats) + " times");
    if (report.repeats > 1) out << ": " << report.count * report.repeats << " copies";
  }
  if (!report.broken.empty()) out << "; " << broken_files_text(report.broken.size());
  out << '\n'
      << Experiment::metrics_text(report.evaluation) << "  (" << std::fixed << std::setprecision(0)
      << report.clouds_per_second << " clouds/s)\n"
      << interval_text(report) << calibration_text(report) << Experiment::loss_text(report.evaluation)
      << invariance_text(report.evaluation.invariance) << attention_text(report.degrees) << '\n'
      << table_text(Experiment::table(report.evaluation, outputs));
  return out.str();
}

}  // namespace geosft
