// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/zoo.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <system_error>

#include "data/data_error.h"
#include "data/read_file.h"
#include "tools/experiment/run_folder.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

constexpr const char* card_file = "card.json";
constexpr int max_levels = 4;  // from the library up to the prefix: lib/x86_64-linux-gnu and the like

bool in_zoo(const std::string& name) {
  const fs::path folder = zoo_folder();
  std::error_code error;
  return !folder.empty() && !name.empty() && name.find('/') == std::string::npos && name != "." && name != ".." &&
         fs::exists(folder / name / card_file, error) && RunFolder::holds_run(folder / name);
}

}  // namespace

fs::path zoo_folder() {
  std::error_code error;
  if (const char* const given = std::getenv("GEOSFT_ZOO"); given != nullptr && *given != '\0') return given;
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&zoo_folder), &here) == 0) return {};
  fs::path level = fs::absolute(here.dli_fname, error).parent_path();
  for (int i = 0; i < max_levels && level.has_relative_path(); ++i) {
    level = level.parent_path();
    if (fs::path found = level / "share" / "geosft" / "zoo"; fs::is_directory(found, error)) return found;
  }
  return {};
}

std::vector<std::string> zoo_models(const std::string& tool) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = zoo_folder();
  if (folder.empty()) return names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (in_zoo(name) && (tool.empty() || zoo_card(name).at("tool") == tool)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string no_zoo_models_text(const std::string& tool) {
  const char* const given = std::getenv("GEOSFT_ZOO");
  const bool named = given != nullptr && *given != '\0';
  return tool + " has no pretrained models" + (named ? std::string(" in ") + given + ", which GEOSFT_ZOO names" : "");
}

nlohmann::json zoo_card(const std::string& name) {
  const fs::path file = zoo_folder() / name / card_file;
  try {
    nlohmann::json card = nlohmann::json::parse(read_file(file));
    for (const char* field : {"name", "tool", "summary", "command", "data", "scores", "sha256"}) card.at(field);
    card.at("data").at("licence");
    const nlohmann::json& score = card.at("scores").at(0);
    score.at("unit").get<std::string>();
    score.at("metrics").at(score.at("metric").get<std::string>()).get<double>();
    return card;
  } catch (const nlohmann::json::exception& error) {
    throw DataError(file.string(), "the card of a pretrained model", error.what());
  }
}

fs::path resolve_run(const fs::path& run) {
  std::error_code error;
  if (fs::is_regular_file(run, error) || RunFolder::holds_run(run) || !in_zoo(run.string())) return run;
  return zoo_folder() / run;
}

bool names_run(const fs::path& what) {
  return what.extension() == ".ckpt" || RunFolder::holds_run(resolve_run(what));
}

}  // namespace geosft
