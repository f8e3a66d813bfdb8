// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/experiment_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <sstream>
#include <system_error>

#include "tools/experiment/arguments.h"
#include "tools/experiment/key_names.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

std::string value_text(const nlohmann::json& score) {
  const double value = score.at("metrics").at(score.at("metric").get<std::string>()).get<double>();
  const std::string unit = score.at("unit");
  if (unit == "%") return percent(value);
  std::ostringstream text;
  text << std::setprecision(3) << value << ' ' << unit;
  return text.str();
}

// Returns "accuracy 85.2 % (so3), 80.1 % with estimated normals": the first evaluation by its main metric, and that of
// clouds as scans, if there is one.
std::string score_text(const nlohmann::json& card) {
  const nlohmann::json& scores = card.at("scores");
  std::string text = scores.at(0).at("metric").get<std::string>() + ' ' + value_text(scores.at(0));
  const std::string rotation = scores.at(0).value("rotation", "none");
  if (rotation != "none") text += " (" + rotation + ')';
  for (const nlohmann::json& score : scores) {
    if (score.value("normals", "") == "estimated") text += ", " + value_text(score) + " with estimated normals";
  }
  return text;
}

// Returns the size of all weights in a folder.
std::string megabytes(const fs::path& folder) {
  double bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code absent;
    const uintmax_t size = at->file_size(absent);
    if (!absent && at->path().extension() == ".ckpt") bytes += static_cast<double>(size);
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << bytes / 1e6 << " MB";
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
                << "; " << score_text(card) << "; " << megabytes(zoo_folder() / one)
                << "; data: " << card.at("data").at("licence").get<std::string>() << '\n';
    }
    if (names.empty()) std::cerr << no_zoo_models_text(tool) << ": train one, see train --help\n";
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

struct InfoArguments {
  std::filesystem::path what;
  uint64_t seed = 0;
  RuntimeOptions runtime;
};

}  // namespace

Command info_command(CLI::App& subcommand, const std::string& what_help, bool& json,
                     const std::function<void(CLI::App&)>& add_reading,
                     const std::function<void(const std::filesystem::path&)>& describe) {
  auto given = std::make_shared<InfoArguments>();
  subcommand.add_option("WHAT", given->what, what_help)->required();
  subcommand.add_option("--seed", given->seed, "as for the other commands; this one samples nothing")
      ->check(CLI::NonNegativeNumber);
  add_reading(subcommand);
  subcommand.add_flag("--json", json, "print one JSON object");
  given->runtime.add_to(subcommand);
  return [given, describe] {
    given->runtime.apply();
    describe(given->what);
    return 0;
  };
}

std::string checkpoint_note(const fs::path& run, int64_t epochs, const std::string& averaged_with) {
  const std::string choice = chosen_checkpoint(checkpoint_file(run)).choice(epochs);
  return (choice.empty() ? "" : ", " + choice) + (averaged_with.empty() ? "" : ", averaged with " + averaged_with);
}

std::string evaluated_text(const fs::path& run, int64_t epochs, const std::string& averaged_with) {
  return "evaluated: " + checkpoint_file(run).string() + checkpoint_note(run, epochs, averaged_with) + "\n";
}

fs::path checkpoint_file(const fs::path& run) {
  fs::path file;
  load_run_checkpoint(run, file);
  return file;
}

nlohmann::json checkpoint_json(const fs::path& run, const std::string& averaged_with) {
  const fs::path file = checkpoint_file(run);
  const ChosenCheckpoint chosen = chosen_checkpoint(file);
  nlohmann::json json{{"file", file.filename().string()}, {"epoch", chosen.epoch}, {"chosen_by", chosen.by}};
  if (!averaged_with.empty()) json["averaged_with"] = averaged_with;
  return json;
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
