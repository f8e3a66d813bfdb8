// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/run_figures.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data/data_error.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/run_checkpoint.h"
#include "tools/experiment/run_folder.h"
#include "tools/experiment/zoo.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Returns whether a metric is from 0 to 1, the higher the better.
bool is_share(const std::string& metric) {
  constexpr const char* endings[] = {"accuracy", "iou", "f1", "auc", "precision"};
  return std::any_of(std::begin(endings), std::end(endings), [&](const char* end) { return metric.ends_with(end); });
}

// Returns "128 items of the test split, rotation so3: accuracy 82.0 %, loss 0.702".
std::string evaluation_text(const nlohmann::json& evaluation) {
  std::ostringstream text;
  text << evaluation.at("count").get<int64_t>() << " items of the " << evaluation.at("split").get<std::string>()
       << " split";
  if (const std::string rotation = evaluation.value("rotation", "none"); rotation != "none") {
    text << ", rotation " << rotation;
  }
  if (evaluation.value("normals", "") == "estimated") text << ", with estimated normals";
  const char* separator = ": ";
  for (const auto& [name, value] : evaluation.at("metrics").items()) {
    text << separator << name << ' ';
    separator = ", ";
    if (!value.is_number()) {
      text << "unknown";  // JSON has no NaN
    } else if (is_share(name)) {
      text << percent(value.get<double>());
    } else {
      text.precision(4);
      text << value.get<double>();
    }
  }
  return text.str();
}

}  // namespace

nlohmann::json run_figures(const fs::path& run) {
  nlohmann::json figures = nlohmann::json::object();
  const fs::path found = resolve_run(run);
  if (found != run) {
    figures["scores"] = zoo_card(run.string()).at("scores");
    return figures;
  }
  std::error_code error;
  const bool single = fs::is_regular_file(found, error);
  const fs::path folder = !single ? found : found.has_parent_path() ? found.parent_path() : ".";
  if (!RunFolder::holds_run(folder)) return figures;
  const RunFolder holder = RunFolder::open(folder);
  if ((single && found.filename() != holder.best_checkpoint().filename()) || !path_exists(holder.result())) {
    return figures;
  }
  try {
    const nlohmann::json result = nlohmann::json::parse(read_file(holder.result()));
    evaluation_text(result);
    const int64_t epoch = result.contains("checkpoint") ? result.at("checkpoint").at("epoch").get<int64_t>() : 0;
    const int64_t now = epoch > 0 ? chosen_checkpoint(holder.best_checkpoint()).epoch : 0;
    if (now > epoch) figures["outdated"] = now;
    figures["result"] = result;
  } catch (const nlohmann::json::exception& wrong) {
    throw DataError(holder.result().string(), "the evaluation of a run", wrong.what());
  }
  return figures;
}

std::string figures_text(const nlohmann::json& figures) {
  std::string text;
  if (figures.contains("scores")) {
    for (const nlohmann::json& score : figures.at("scores")) text += "its card: " + evaluation_text(score) + "\n";
  }
  if (!figures.contains("result")) return text;
  const nlohmann::json& result = figures.at("result");
  text += "result.json: " + evaluation_text(result);
  if (result.contains("checkpoint")) {
    const nlohmann::json& of = result.at("checkpoint");
    text += "; of " + of.at("file").get<std::string>() + ", epoch " + std::to_string(of.at("epoch").get<int64_t>()) +
            ", chosen by: " + of.at("chosen_by").get<std::string>();
    if (of.contains("averaged_with")) text += ", averaged with " + of.at("averaged_with").get<std::string>();
  }
  if (figures.contains("outdated")) {
    text += "; best.ckpt is of epoch " + std::to_string(figures.at("outdated").get<int64_t>()) +
            " now, which eval measures";
  }
  return text + "\n";
}

}  // namespace geosft
