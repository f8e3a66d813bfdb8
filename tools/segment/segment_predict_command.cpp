// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "tools/common/coloured_ply.h"
#include "tools/common/main_guard.h"
#include "tools/common/plots.h"
#include "tools/common/progress.h"
#include "tools/common/report_texts.h"
#include "tools/segment/commands.h"
#include "tools/segment/segment_overrides.h"
#include "tools/segment/segment_prediction.h"

namespace geosft {
namespace {

constexpr int64_t most_drawn = 20'000;

struct SegmentPredictCommand {
  std::string run, category, kind = "spread", ply, labels, picture;
  std::vector<std::string> files;
  bool json = false;
  SegmentOverrides overrides;

  void print(const std::string& file, const PartPrediction& prediction, const SegmentRun& trained) const;
  void write(const PartPrediction& prediction, const SegmentRun& trained) const;
  void draw(const std::string& file, const PartPrediction& prediction, const SegmentRun& trained) const;
  int execute();
};

void SegmentPredictCommand::print(const std::string& file, const PartPrediction& prediction,
                                  const SegmentRun& trained) const {
  const auto parts = static_cast<int64_t>(trained.parts.size());
  const at::Tensor counts = at::bincount(prediction.labels, {}, parts);
  const auto total = static_cast<double>(prediction.labels.numel());
  nlohmann::json found = nlohmann::json::array();
  if (!json) std::cout << file << ": " << prediction.labels.numel() << " points:";
  for (int64_t part = 0; part < parts; ++part) {
    const auto points = counts[part].item<int64_t>();
    if (points == 0) continue;
    const std::string name = trained.part_name(part);
    found.push_back({{"id", part}, {"part", name}, {"points", points}});
    if (!json) std::cout << "  " << name << ' ' << percent(static_cast<double>(points) / total);
  }
  if (json) {
    std::cout << nlohmann::json{{"file", file}, {"points", prediction.labels.numel()}, {"parts", found}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);  // file names are bytes
  }
  std::cout << '\n';
}

void SegmentPredictCommand::write(const PartPrediction& prediction, const SegmentRun& trained) const {
  if (!ply.empty()) {
    write_coloured_ply(ply, prediction.points, part_colours(prediction.labels, trained.parts), prediction.labels, {},
                       "part");
  }
  if (labels.empty()) return;
  std::string lines;
  const int64_t* label = prediction.labels.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < prediction.labels.numel(); ++i) lines += std::to_string(label[i]) + "\n";
  write_file_atomically(labels, lines);
}

void SegmentPredictCommand::draw(const std::string& file, const PartPrediction& prediction,
                                 const SegmentRun& trained) const {
  const int64_t step = (prediction.labels.numel() + most_drawn - 1) / most_drawn;
  const auto some = [&](const at::Tensor& rows) { return rows.slice(0, 0, rows.size(0), step); };
  const at::Tensor places = places_in_class(prediction.labels, trained.parts).to(at::kDouble);
  warn_unless_drawn(plot_cloud(some(prediction.points), some(places), picture,
                               std::filesystem::path(file).filename().string(), "part"));
}

int SegmentPredictCommand::execute() {
  SegmentRun trained = overrides.load(run);
  install_interrupt_handler();
  for (const std::string& file : files) {
    std::unique_ptr<ProgressBar> bar;
    const auto advance = [&](int64_t done, int64_t total) {
      if (!bar && done < total) bar = std::make_unique<ProgressBar>("predicting", total);
      if (bar) bar->update(done);
      throw_if_interrupted("in the middle of a prediction");
    };
    const PartPrediction prediction = predict_parts(trained, file, category, block_kind_of(kind), advance);
    if (bar) bar->finish();
    for (const std::string& remark : prediction.remarks) std::cerr << remark << '\n';
    print(file, prediction, trained);
    if (&file != &files.back()) continue;
    write(prediction, trained);
    if (!picture.empty()) draw(file, prediction, trained);
  }
  return 0;
}

}  // namespace

Command add_segment_predict_command(CLI::App& verb) {
  auto command = std::make_shared<SegmentPredictCommand>();
  verb.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  verb.add_option("FILE", command->files, "clouds or meshes: ply, obj, off, stl, pcd, xyz, txt")->required();
  verb.add_option("--category", command->category, "class of the shapes");
  verb.add_option("--block-kind", command->kind,
                  "what --block takes at once: points from all over the cloud, or neighbours")
      ->check(CLI::IsMember({"spread", "near"}))
      ->capture_default_str();
  verb.add_option("--ply", command->ply,
                  "write the points, coloured by part, with the part's number (of the last file)");
  verb.add_option("--labels", command->labels,
                  "write the part's number of every point, a line each (of the last file)");
  verb.add_option("--picture", command->picture, "draw them to PICTURE.png and .svg (of the last file)");
  verb.add_flag("--json", command->json, "print one JSON object a file");
  command->overrides.add_to(verb);
  return [command] { return command->execute(); };
}

}  // namespace geosft
