// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/predict_output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/experiment/colour_map.h"

namespace geosft {

void ClassifyOutput::add_to(CLI::App& subcommand) {
  subcommand.add_option("--top", top, "classes to show a file")->check(CLI::Range(1, 1000000))->capture_default_str();
}

std::string ClassifyOutput::text(const std::string& file, const Prediction& prediction, const RunModel& trained) {
  std::ostringstream out;
  out << file << ':' << std::fixed << std::setprecision(1);
  for (const auto& [label, share] : prediction.ranking) {
    out << "  " << trained.class_names.at(label) << ' ' << 100 * share << " %";
  }
  return out.str();
}

nlohmann::json ClassifyOutput::json(const std::string& file, const Prediction& prediction, const RunModel& trained) {
  nlohmann::json ranked = nlohmann::json::array();
  for (const auto& [label, share] : prediction.ranking) ranked.push_back({trained.class_names.at(label), share});
  const auto& [best, probability] = prediction.ranking.front();
  return {{"file", file}, {"class", trained.class_names.at(best)}, {"probability", probability}, {"top", ranked}};
}

std::vector<std::string> ClassifyOutput::csv_head(const RunModel& trained) const {
  std::vector<std::string> fields{"file"};
  for (size_t rank = 1; rank <= std::min(static_cast<size_t>(top), trained.class_names.size()); ++rank) {
    const std::string number = rank == 1 ? "" : "_" + std::to_string(rank);
    fields.push_back("class" + number);
    fields.push_back("probability" + number);
  }
  return fields;
}

std::vector<std::vector<std::string>> ClassifyOutput::csv_rows(const std::string& file, const Prediction& prediction,
                                                               const RunModel& trained) {
  std::vector<std::string> fields{file};
  for (const auto& [label, share] : prediction.ranking) {
    fields.push_back(trained.class_names.at(label));
    fields.push_back(nlohmann::json(share).dump());
  }
  return {fields};
}

ColouredPly ClassifyOutput::coloured(const Prediction& prediction, const RunModel&) {
  const at::Tensor& values = prediction.importance;
  return {.points = prediction.file_points,
          .colours = colours_of(ColourMap::viridis, values, scale_of(values)),
          .values = values,
          .normals = prediction.file_normals};
}

PlotResult ClassifyOutput::draw(const std::filesystem::path& picture, const std::string& file,
                                const Prediction& prediction, const RunModel& trained) {
  const std::string title =
      std::filesystem::path(file).filename().string() + ": " + trained.class_names.at(prediction.ranking.front().first);
  return plot_cloud(prediction.points, prediction.importance, picture, title, "token importance");
}

}  // namespace geosft
