// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "data/formats/shape_file.h"
#include "tools/experiment/coloured_ply.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/output_files.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/report_texts.h"
#include "tools/segment/commands.h"
#include "tools/segment/segment_overrides.h"
#include "tools/segment/segment_prediction.h"

namespace geosft {
namespace fs = std::filesystem;

namespace {

constexpr int64_t max_drawn = 20'000;

struct SegmentPredictCommand {
  std::string run, category, kind = "spread", ply, labels, picture, csv;
  std::vector<std::string> given;
  bool json = false, fail_fast = false;
  FileOptions file_options;
  SegmentOverrides overrides;

  PartPrediction predict(SegmentRun& trained, const std::string& file) const;
  void print(const std::string& file, const PartPrediction& prediction, const SegmentRun& trained) const;
  int execute();
};

struct FoundPart {
  int64_t id, points;
  std::string name;
};

std::vector<FoundPart> found_parts(const PartPrediction& prediction, const SegmentRun& trained) {
  const auto parts = static_cast<int64_t>(trained.parts.size());
  const at::Tensor counts = at::bincount(prediction.labels, {}, parts);
  std::vector<FoundPart> found;
  for (int64_t part = 0; part < parts; ++part) {
    const auto points = counts[part].item<int64_t>();
    if (points > 0) found.push_back({part, points, trained.part_name(part)});
  }
  return found;
}

std::string prediction_text(const std::string& file, int64_t points, const std::vector<FoundPart>& found) {
  std::string text = file + ": " + std::to_string(points) + " points:";
  for (const FoundPart& part : found) {
    text += "  " + part.name + " " + percent(static_cast<double>(part.points) / static_cast<double>(points));
  }
  return text;
}

std::string prediction_json(const std::string& file, int64_t points, const std::vector<FoundPart>& found) {
  nlohmann::json parts = nlohmann::json::array();
  for (const FoundPart& part : found) {
    parts.push_back({{"id", part.id}, {"part", part.name}, {"points", part.points}});
  }
  return nlohmann::json{{"file", file}, {"points", points}, {"parts", parts}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);  // may be invalid UTF-8
}

// Returns the rows of --csv: a row per part that was found.
std::string csv_rows(const std::string& file, int64_t points, const std::vector<FoundPart>& found) {
  std::string rows;
  for (const FoundPart& part : found) {
    const double share = static_cast<double>(part.points) / static_cast<double>(points);
    rows += csv_line(
        {file, std::to_string(part.id), part.name, std::to_string(part.points), nlohmann::json(share).dump(), ""});
  }
  return rows;
}

void write_parts_ply(const fs::path& file, const PartPrediction& prediction, const PartList& parts) {
  const bool is_mesh = prediction.mesh.vertices.defined();
  const at::Tensor& labels = is_mesh ? prediction.vertex_labels : prediction.labels;
  write_coloured_ply(file, {.points = is_mesh ? prediction.mesh.vertices : prediction.points,
                            .colours = part_colours(labels, parts),
                            .values = labels,
                            .value_name = "part",
                            .faces = prediction.mesh.faces});
}

void write_labels(const fs::path& file, const PartPrediction& prediction) {
  const at::Tensor& labels = prediction.vertex_labels.defined() ? prediction.vertex_labels : prediction.labels;
  const int64_t* label = labels.const_data_ptr<int64_t>();
  std::string lines;
  for (int64_t i = 0; i < labels.numel(); ++i) lines += std::to_string(label[i]) + "\n";
  write_file_atomically(file, lines);
}

void draw_parts(const fs::path& picture, const std::string& file, const PartPrediction& prediction,
                const PartList& parts) {
  const int64_t step = (prediction.labels.numel() + max_drawn - 1) / max_drawn;
  const auto some = [&](const at::Tensor& rows) { return rows.slice(0, 0, rows.size(0), step); };
  const at::Tensor places = places_in_class(prediction.labels, parts).to(at::kDouble);
  warn_unless_drawn(
      plot_cloud(some(prediction.points), some(places), picture, fs::path(file).filename().string(), "part"));
}

PartPrediction SegmentPredictCommand::predict(SegmentRun& trained, const std::string& file) const {
  std::unique_ptr<ProgressBar> bar;
  const auto advance = [&](int64_t done, int64_t total) {
    if (!bar && done < total) bar = std::make_unique<ProgressBar>("predicting", total);
    if (bar) bar->update(done);
    throw_if_interrupted("in the middle of a prediction");
  };
  PartPrediction prediction = predict_parts(trained, file, category, block_kind_of(kind), advance, file_options);
  if (bar) bar->finish();
  return prediction;
}

void SegmentPredictCommand::print(const std::string& file, const PartPrediction& prediction,
                                  const SegmentRun& trained) const {
  for (const std::string& warning : prediction.warnings) std::cerr << warning << '\n';
  const auto line = json ? prediction_json : prediction_text;
  std::cout << line(file, prediction.labels.numel(), found_parts(prediction, trained)) << '\n';
}

int SegmentPredictCommand::execute() {
  SegmentRun trained = overrides.load(run);
  const auto [files, several] = input_shape_files(given);
  const OutputFiles plys("--ply", ply, files, ".ply", several), texts("--labels", labels, files, ".txt", several);
  const OutputFiles pictures("--picture", picture, files, "", several);
  install_interrupt_handler();
  std::string rows = csv_line({"file", "part_id", "part", "points", "share", "error"});
  const auto each = [&, &files = files](size_t i) {
    const PartPrediction prediction = predict(trained, files[i]);
    print(files[i], prediction, trained);
    if (plys.wanted()) write_parts_ply(plys[i], prediction, trained.parts);
    if (texts.wanted()) write_labels(texts[i], prediction);
    if (pictures.wanted()) draw_parts(pictures[i], files[i], prediction, trained.parts);
    if (!csv.empty()) rows += csv_rows(files[i], prediction.labels.numel(), found_parts(prediction, trained));
  };
  const auto failed = [&, &files = files](size_t i, const std::string& error) {
    rows += csv_line({files[i], "", "", "", "", error});
  };
  const int code = for_each_file("geosft-segment", files.size(), fail_fast, each, failed);
  if (!csv.empty()) write_file_atomically(csv, rows);
  return code;
}

}  // namespace

Command add_segment_predict_command(CLI::App& subcommand) {
  auto command = std::make_shared<SegmentPredictCommand>();
  subcommand.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  subcommand
      .add_option("FILE", command->given,
                  "clouds or meshes: " + shape_extensions() + "; folders of them, or patterns such as 'a/*.off'")
      ->required();
  subcommand.add_option("--category", command->category, "class of the shapes");
  subcommand
      .add_option("--block-kind", command->kind,
                  "what --block takes at once: points from all over the cloud, or neighbours")
      ->check(CLI::IsMember({"spread", "near"}))
      ->capture_default_str();
  subcommand.add_option("--ply", command->ply,
                        "write points or mesh, coloured by part, with the part's number; of several files: a folder");
  subcommand.add_option("--labels", command->labels,
                        "write the part's number of every point or vertex, a line each; of several files: a folder");
  subcommand.add_option("--picture", command->picture, "draw to PICTURE.png and .svg; of several files: a folder");
  subcommand.add_flag("--json", command->json, "print one JSON object a file");
  command->file_options.add_to(subcommand);
  subcommand
      .add_option("--csv", command->csv,
                  "also write a table to this file, a row a part of a file, with an error in the last column")
      ->check(unwritable);
  subcommand.add_flag("--fail-fast", command->fail_fast, "stop at the first file that cannot be read");
  command->overrides.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
