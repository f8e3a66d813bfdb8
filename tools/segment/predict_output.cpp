// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/predict_output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/experiment/main_guard.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/split_table.h"

namespace geosft {
namespace {

constexpr int64_t max_drawn = 20'000;

struct FoundPart {
  int64_t id, label, points;
  std::string name;
  double share;  // of the points
};

std::vector<FoundPart> found_parts(const PartPrediction& prediction, const SegmentRun& trained) {
  const auto parts = static_cast<int64_t>(trained.parts.size());
  const at::Tensor counts = at::bincount(prediction.labels, {}, parts);
  std::vector<FoundPart> found;
  for (int64_t part = 0; part < parts; ++part) {
    const auto points = counts[part].item<int64_t>();
    if (points == 0) continue;
    found.push_back({part, trained.parts[static_cast<size_t>(part)].label, points, trained.part_name(part),
                     static_cast<double>(points) / static_cast<double>(prediction.labels.numel())});
  }
  return found;
}

using Advance = std::function<void(int64_t, int64_t)>;

// Calls predict(advance), with `shown` progress on stderr for large clouds, and notes what the training has not seen. A
// last line of each file would fill a log: elsewhere than on a terminal there are only those of a long prediction.
PartPrediction with_progress(const SegmentRun& trained, BlockKind kind, bool shown,
                             const std::function<PartPrediction(const Advance&)>& predict) {
  std::unique_ptr<ProgressBar> bar;
  PartPrediction prediction = predict([&](int64_t done, int64_t total) {
    if (shown && !bar && done < total) bar = std::make_unique<ProgressBar>("predicting", total);
    if (bar) bar->update(done);
    throw_if_interrupted("in the middle of a prediction");
  });
  if (bar && standard_error().terminal) bar->finish();
  const int64_t block = trained.settings.clouds.block;
  if (kind == BlockKind::near && block > 0 && prediction.labels.numel() > block) {
    stderr_notes().print(
        "--block-kind near: the model was trained on points from all over a cloud, and may be wrong about neighbours");
  }
  return prediction;
}

}  // namespace

void SegmentOutput::add_to(CLI::App& subcommand) {
  subcommand.add_option("--category", category, "class of the shapes in files; a model of one class needs none");
  add_enum_option(subcommand, "--block-kind", &kind,
                  "what --block takes at once: points from all over the cloud, or neighbours");
  subcommand.add_option(
      "--labels", labels,
      "write the label of the part of every point or vertex, a line each; of several files: a folder");
}

void SegmentOutput::begin(const InputFiles& inputs) {
  label_files_.emplace("--labels", labels, inputs.files, ".txt", inputs.several, inputs.of_set);
  install_interrupt_handler();
}

void SegmentOutput::warn(const SegmentRun& trained, const SetClouds& set) const {
  std::set<std::string> given;
  for (const auto& [clouds, row] : set.clouds) {
    given.insert(trained.class_names.at(static_cast<size_t>(clouds->label(row))));
  }
  if (std::ranges::find(trained.class_names, category) != trained.class_names.end()) given.insert(category);
  std::set<std::string> learned;
  try {
    for (const SplitRow& row : read_split_rows(trained.split_file)) {
      if (row.split == "train" && !row.label.empty()) learned.insert(row.label);  // earlier versions have no labels
    }
  } catch (const DataError&) {
    return;  // a prediction needs no split.csv
  }
  for (const std::string& one : given) {
    if (learned.empty() || learned.contains(one)) continue;
    std::cerr << (set.clouds.empty() ? "--category " : "class ") << one
              << ": the model was trained on no shape of this class\n";
  }
}

PartPrediction SegmentOutput::predict(SegmentRun& trained, const std::string& file, const FileOptions& reading) const {
  return with_progress(trained, kind, /*shown=*/true, [&](const Advance& advance) {
    return predict_parts(trained, file, category, kind, advance, reading);
  });
}

PartPrediction SegmentOutput::predict(SegmentRun& trained, Shape cloud, const FileOptions& reading) const {
  return with_progress(trained, kind, /*shown=*/false, [&](const Advance& advance) {
    return predict_parts(trained, std::move(cloud), kind, advance, reading.estimated_normals);
  });
}

std::string SegmentOutput::text(const std::string& file, const PartPrediction& prediction, const SegmentRun& trained) {
  std::string text = file + ": " + std::to_string(prediction.labels.numel()) + " points:";
  for (const FoundPart& part : found_parts(prediction, trained)) text += "  " + part.name + " " + percent(part.share);
  return text;
}

nlohmann::json SegmentOutput::json(const std::string& file, const PartPrediction& prediction,
                                   const SegmentRun& trained) {
  nlohmann::json parts = nlohmann::json::array();
  for (const FoundPart& part : found_parts(prediction, trained)) {
    parts.push_back({{"id", part.id}, {"label", part.label}, {"part", part.name}, {"points", part.points}});
  }
  return {{"file", file}, {"points", prediction.labels.numel()}, {"parts", parts}};
}

std::vector<std::string> SegmentOutput::csv_head(const SegmentRun&) {
  return {"file", "part_id", "label", "part", "points", "share"};
}

std::vector<std::vector<std::string>> SegmentOutput::csv_rows(const std::string& file, const PartPrediction& prediction,
                                                              const SegmentRun& trained) {
  std::vector<std::vector<std::string>> rows;
  for (const FoundPart& part : found_parts(prediction, trained)) {
    rows.push_back({file, std::to_string(part.id), std::to_string(part.label), part.name, std::to_string(part.points),
                    nlohmann::json(part.share).dump()});
  }
  return rows;
}

ColouredPly SegmentOutput::coloured(const PartPrediction& prediction, const SegmentRun& trained) {
  const bool is_mesh = prediction.mesh.vertices.defined();
  const at::Tensor& labels = is_mesh ? prediction.vertex_labels : prediction.labels;
  return {.points = is_mesh ? prediction.mesh.vertices : prediction.points,
          .colours = part_colours(labels, trained.parts),
          .values = trained.labels_of(labels),
          .value_name = "part",
          .faces = prediction.mesh.faces,
          .normals = prediction.normals};
}

PlotResult SegmentOutput::draw(const std::filesystem::path& picture, const std::string& file,
                               const PartPrediction& prediction, const SegmentRun& trained) {
  const int64_t step = (prediction.labels.numel() + max_drawn - 1) / max_drawn;
  const auto some = [&](const at::Tensor& rows) { return rows.slice(0, 0, rows.size(0), step); };
  std::vector<std::pair<std::string, Colour>> key;
  for (const FoundPart& part : found_parts(prediction, trained)) {
    const at::Tensor colour = part_colours(at::tensor({part.id}, at::kLong), trained.parts);
    const double* channel = colour.const_data_ptr<double>();
    key.push_back({part.name + ", " + percent(part.share), {channel[0], channel[1], channel[2]}});
  }
  return plot_classed_cloud(some(prediction.points), some(part_colours(prediction.labels, trained.parts)), key, picture,
                            std::filesystem::path(file).filename().string());
}

void SegmentOutput::write_more(size_t file, const PartPrediction& prediction, const SegmentRun& trained) const {
  if (!label_files_->requested()) return;
  const at::Tensor values =
      trained.labels_of(prediction.vertex_labels.defined() ? prediction.vertex_labels : prediction.labels);
  const int64_t* label = values.const_data_ptr<int64_t>();
  std::string lines;
  for (int64_t i = 0; i < values.numel(); ++i) lines += std::to_string(label[i]) + "\n";
  write_file_atomically((*label_files_)[file], lines);
}

}  // namespace geosft
