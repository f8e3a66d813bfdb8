// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/atomic_file.h"
#include "data/formats/shape_file.h"
#include "tools/classify/classify_overrides.h"
#include "tools/classify/commands.h"
#include "tools/classify/prediction.h"
#include "tools/experiment/colour_map.h"
#include "tools/experiment/coloured_ply.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/output_files.h"
#include "tools/experiment/report_texts.h"

namespace geosft {
namespace {

struct PredictCommand {
  std::string run, picture, ply, csv;
  std::vector<std::string> given;
  int64_t top = 3;
  bool json = false, fail_fast = false;
  FileOptions file_options;
  ClassifyOverrides overrides;

  void print(const std::string& file, const Prediction& prediction, const std::vector<std::string>& names) const {
    const auto best = prediction.ranking.front();
    if (json) {
      nlohmann::json ranked = nlohmann::json::array();
      for (const auto& [label, share] : prediction.ranking) ranked.push_back({names.at(label), share});
      std::cout << nlohmann::json{{"file", file},
                                  {"class", names.at(best.first)},
                                  {"probability", best.second},
                                  {"top", ranked}}
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)  // may be invalid UTF-8
                << '\n';
      return;
    }
    std::cout << file << ':';
    for (const auto& [label, share] : prediction.ranking) {
      std::cout << "  " << names.at(label) << ' ' << std::fixed << std::setprecision(1) << 100 * share << " %";
    }
    std::cout << '\n';
  }

  // Returns a row of --csv: the file, pairs of class and probability, and no error.
  static std::string csv_row(const std::string& file, const Prediction& prediction,
                             const std::vector<std::string>& names) {
    std::vector<std::string> fields{file};
    for (const auto& [label, share] : prediction.ranking) {
      fields.push_back(names.at(label));
      fields.push_back(nlohmann::json(share).dump());
    }
    fields.emplace_back();
    return csv_line(fields);
  }

  // Returns the row of a file that could not be read.
  std::string csv_error_row(const std::string& file, size_t classes, const std::string& error) const {
    std::vector<std::string> fields{file};
    fields.resize(1 + 2 * std::min(static_cast<size_t>(top), classes));
    fields.push_back(error);
    return csv_line(fields);
  }

  std::string csv_head(size_t classes) const {
    std::vector<std::string> fields{"file"};
    for (size_t rank = 1; rank <= std::min(static_cast<size_t>(top), classes); ++rank) {
      const std::string number = rank == 1 ? "" : "_" + std::to_string(rank);
      fields.push_back("class" + number);
      fields.push_back("probability" + number);
    }
    fields.emplace_back("error");
    return csv_line(fields);
  }

  static void draw(const std::filesystem::path& to, const std::string& file, const Prediction& prediction,
                   const std::vector<std::string>& names) {
    const std::string title =
        std::filesystem::path(file).filename().string() + ": " + names.at(prediction.ranking.front().first);
    warn_unless_drawn(plot_cloud(prediction.points, prediction.importance, to, title, "token importance"));
  }

  static void write_ply(const std::filesystem::path& file, const Prediction& prediction) {
    const at::Tensor& values = prediction.importance;
    write_coloured_ply(file, {.points = prediction.file_points,
                              .colours = colours_of(ColourMap::viridis, values, scale_of(values)),
                              .values = values});
  }

  int execute() {
    RunModel trained = overrides.load(run);
    const auto [files, several] = input_shape_files(given);
    const OutputFiles plys("--ply", ply, files, ".ply", several), pictures("--picture", picture, files, "", several);
    std::string rows = csv_head(trained.class_names.size());
    const auto each = [&, &files = files](size_t i) {
      const Prediction prediction = predict(trained, files[i], top, file_options);
      for (const std::string& warning : prediction.warnings) std::cerr << warning << '\n';
      print(files[i], prediction, trained.class_names);
      if (plys.wanted()) write_ply(plys[i], prediction);
      if (pictures.wanted()) draw(pictures[i], files[i], prediction, trained.class_names);
      if (!csv.empty()) rows += csv_row(files[i], prediction, trained.class_names);
    };
    const auto failed = [&, &files = files](size_t i, const std::string& error) {
      rows += csv_error_row(files[i], trained.class_names.size(), error);
    };
    const int code = for_each_file("geosft-classify", files.size(), fail_fast, each, failed);
    if (!csv.empty()) write_file_atomically(csv, rows);
    return code;
  }
};

}  // namespace

Command add_predict_command(CLI::App& subcommand) {
  auto command = std::make_shared<PredictCommand>();
  subcommand.add_option("RUN", command->run, "RUN folder, or a checkpoint file")->required();
  subcommand
      .add_option("FILE", command->given,
                  "meshes or clouds: " + shape_extensions() + "; folders of them, or patterns such as 'a/*.off'")
      ->required();
  subcommand.add_option("--top", command->top, "classes to show a file")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  subcommand.add_flag("--json", command->json, "print one JSON object a file");
  subcommand
      .add_option("--csv", command->csv,
                  "also write a table to this file, a row a file, with an error in the last column")
      ->check(unwritable);
  subcommand.add_flag("--fail-fast", command->fail_fast, "stop at the first file that cannot be read");
  subcommand.add_option(
      "--picture", command->picture,
      "draw the cloud coloured by token importance to PICTURE.png and .svg; of several files: a folder");
  subcommand.add_option("--ply", command->ply,
                        "write the same cloud, coloured, in the file's coordinates; of several files: a folder");
  command->file_options.add_to(subcommand);
  command->overrides.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
