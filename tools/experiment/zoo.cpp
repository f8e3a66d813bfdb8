// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/zoo.h"

#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "data/data_error.h"
#include "data/read_file.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/report_texts.h"
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

// Returns "accuracy 85.2 % (so3)": the first evaluation by its main metric.
std::string score_text(const nlohmann::json& card) {
  const nlohmann::json& score = card.at("scores").at(0);
  const std::string metric = score.at("metric"), unit = score.at("unit");
  const double value = score.at("metrics").at(metric).get<double>();
  std::ostringstream text;
  text << metric << ' ';
  if (unit == "%") {
    text << percent(value);
  } else {
    text << std::setprecision(3) << value << ' ' << unit;
  }
  const std::string rotation = score.value("rotation", "none");
  if (rotation != "none") text << " (" << rotation << ')';
  return text.str();
}

std::string megabytes(const fs::path& file) {
  std::error_code error;
  const auto bytes = static_cast<double>(fs::file_size(file, error));
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << (error ? 0.0 : bytes / 1e6) << " MB";
  return text.str();
}

struct ListCommand {
  std::string tool, name;
  bool json = false;
  RuntimeOptions runtime;
  uint64_t seed = 0;

  void print_all(const std::vector<std::string>& names) const {
    if (json) {
      nlohmann::json cards = nlohmann::json::array();
      for (const std::string& one : names) cards.push_back(zoo_card(one));
      std::cout << json_line({{"folder", zoo_folder().string()}, {"models", cards}});
      return;
    }
    size_t widest = 0;
    for (const std::string& one : names) widest = std::max(widest, one.size());
    for (const std::string& one : names) {
      const nlohmann::json card = zoo_card(one);
      std::cout << std::left << std::setw(static_cast<int>(widest) + 2) << one << card.at("summary").get<std::string>()
                << "; " << score_text(card) << "; " << megabytes(RunFolder::open(zoo_folder() / one).best_checkpoint())
                << "; data: " << card.at("data").at("licence").get<std::string>() << '\n';
    }
    if (names.empty()) std::cerr << "no pretrained models of " << tool << " are installed\n";
  }

  int execute() const {
    const std::vector<std::string> names = zoo_models(tool);
    if (name.empty()) {
      print_all(names);
      return 0;
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError("no pretrained model '" + name + "' of " + tool + nearest_hint(name, names));
    }
    const nlohmann::json card = zoo_card(name);
    std::cout << (json ? json_line(card) : card.dump(2) + "\n");
    return 0;
  }
};

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

nlohmann::json zoo_card(const std::string& name) {
  const fs::path file = zoo_folder() / name / card_file;
  try {
    nlohmann::json card = nlohmann::json::parse(read_file(file));
    for (const char* field : {"name", "tool", "summary", "command", "data", "scores", "sha256"}) card.at(field);
    card.at("data").at("licence");
    score_text(card);
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

Command list_command(CLI::App& subcommand, const std::string& tool) {
  auto command = std::make_shared<ListCommand>();
  command->tool = tool;
  subcommand.add_option("NAME", command->name, "print the card of this model: data, licence, command, scores");
  subcommand.add_flag("--json", command->json, "print one JSON object");
  subcommand.add_option("--seed", command->seed, "as for the other commands; this one samples nothing")
      ->check(CLI::NonNegativeNumber);
  command->runtime.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft
