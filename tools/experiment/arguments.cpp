// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "tools/experiment/enum_names.h"
#include "tools/experiment/key_names.h"
#include "tools/experiment/output_files.h"

namespace geosft {
namespace {

// Returns the innermost subcommand given on the command line, or `app`.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> subcommands = app.get_subcommands();
  return subcommands.empty() ? app : chosen(*subcommands.front());
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands({})) {
    if (!subcommand->get_name().empty()) names.push_back(subcommand->get_name());
  }
  return names;
}

// Returns the options and flags of the subcommand that a word list names, or those of `app`.
const CLI::App& named_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
  for (const CLI::App* subcommand : app.get_subcommands({})) {
    if (words.size() > 1 && subcommand->check_name(words[1])) return *subcommand;
  }
  return app;
}

bool is_truth(const std::string& word) {
  return word == "true" || word == "false";
}

// Joins "--normals false" to "--normals=false", which is what CLI11 takes for a flag.
std::vector<std::string> joined_flags(const CLI::App& app, std::vector<std::string> words) {
  const CLI::App& subcommand = named_subcommand(app, words);
  std::vector<std::string> joined;
  for (const std::string& word : words) {
    const bool after_flag = is_truth(word) && !joined.empty() && joined.back().starts_with("--") &&
                            joined.back().find('=') == std::string::npos;
    const CLI::Option* option = after_flag ? subcommand.get_option_no_throw(joined.back()) : nullptr;
    if (option != nullptr && option->get_items_expected_max() == 0) {
      joined.back() += "=" + word;
    } else {
      joined.push_back(word);
    }
  }
  return joined;
}

// Returns what a missing option is: ": RUN folder, …" for "RUN is required"; empty for other messages.
std::string meaning_of_missing(const CLI::App& app, const std::string& message) {
  constexpr std::string_view ending = " is required";
  if (!message.ends_with(ending)) return "";
  const CLI::Option* const option = chosen(app).get_option_no_throw(message.substr(0, message.size() - ending.size()));
  return option == nullptr || option->get_description().empty() ? "" : ": " + option->get_description();
}

// Returns "--split: expected all, train or test, found 'tset'" for "--split: tset not in {all,train,test}", as CLI11
// says of an enumeration; other messages as they are.
std::string with_choices(const std::string& message) {
  constexpr std::string_view before = ": ", middle = " not in {";
  const size_t value = message.find(before), set = message.find(middle);
  if (value == std::string::npos || set == std::string::npos || value > set || !message.ends_with('}')) return message;
  std::vector<std::string> choices;
  std::istringstream names(message.substr(set + middle.size(), message.size() - set - middle.size() - 1));
  for (std::string name; std::getline(names, name, ',');) choices.push_back(name);
  const size_t begin = value + before.size();
  return message.substr(0, begin) + "expected " + listed(choices, " or ") + ", found '" +
         message.substr(begin, set - begin) + "'";
}

// Returns what an option of another tool is called here, with its value: "--device cuda" for "--gpu", and in a sweep
// "--set epochs=VALUE" for "--epochs"; empty for others.
std::string meant_setting(const CLI::App& app, const std::string& name) {
  const std::string plain = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  const bool gpu = plain == "gpu" || plain == "cuda", has_device = app.get_option_no_throw("--device") != nullptr;
  if (has_device && (gpu || plain == "cpu")) return gpu ? "--device cuda" : "--device cpu";
  // A sweep takes its configurations as they are.
  if (plain == "config" && app.get_option_no_throw("CONFIG") != nullptr) return "FILE.toml without it";
  if (app.get_option_no_throw("--set") == nullptr || !nearest_name(name, option_names(app)).empty()) return "";
  std::string key = plain;
  std::replace(key.begin(), key.end(), '-', '_');
  return "--set " + key + "=VALUE";
}

// Returns "--seed: expected a number of at least 0, found -1" for "--seed: Value -1 not in range 0.000000 to 1797…", as
// CLI11 says of CLI::NonNegativeNumber with all the digits of the limit; other messages as they are.
std::string without_huge_limit(const std::string& message) {
  constexpr std::string_view value = ": Value ", middle = " not in range 0.000000 to ";
  constexpr size_t many = 40;  // characters, more than an integer has
  const size_t begin = message.find(value), range = message.find(middle);
  if (begin == std::string::npos || range == std::string::npos || message.size() < range + middle.size() + many) {
    return message;
  }
  const size_t found = begin + value.size();
  return message.substr(0, begin) + ": expected a number of at least 0, found " + message.substr(found, range - found);
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extras = app.remaining(true);
  const std::string message = first_line(error.what());
  // CLI11 says "--threads: 1 required INT:INT in [0 - 1024] missing".
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (lacks_value && message.find(": 1 required ") != std::string::npos && message.ends_with(" missing")) {
    return message.substr(0, message.find(':')) + ": expected a value, found none";
  }
  if (extras.empty()) return with_choices(without_huge_limit(message)) + meaning_of_missing(app, message);
  // The options that follow an unknown command are its own.
  if (!subcommand_names(chosen(app)).empty() && !extras.front().starts_with('-')) {
    return unknown_option_message(chosen(app), extras.front());
  }
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const auto& text) { return text.rfind('-', 0) == 0; });
  return unknown_option_message(chosen(app), option == extras.end() ? extras.front() : *option);
}

}  // namespace

std::string unknown_option_message(const CLI::App& app, const std::string& argument) {
  const bool is_option = argument.rfind('-', 0) == 0;
  const std::string name = is_option ? argument.substr(0, argument.find('=')) : argument;
  const std::vector<std::string> subcommands = subcommand_names(app);
  if (!is_option && subcommands.empty()) {
    const CLI::Option* const resume = app.get_option_no_throw("--resume");
    const char* meant = app.get_option_no_throw("--data") != nullptr ? "--data" : nullptr;
    if (resume != nullptr && resume->count() > 0) meant = "--out";
    return "unexpected argument '" + name + "'" +
           (meant ? std::string("; did you mean ") + meant + " " + name + "?" : "");
  }
  const std::string meant = is_option ? meant_setting(app, name) : "";
  static const std::set<std::string> comparisons = {
      "sweep", "--cross-validation", "--folds", "--fold", "--num-seeds", "--seeds", "--split"};
  const CLI::App* top = &app;
  while (top->get_parent() != nullptr) top = top->get_parent();
  const std::vector<std::string> all = subcommand_names(*top);
  const bool of_clouds = std::ranges::find(all, "train") != all.end() && std::ranges::find(all, "sweep") == all.end();
  if (of_clouds && comparisons.contains(name)) {
    return std::string("unknown ") + (is_option ? "option" : "command") + " '" + name +
           "'; folds, several seeds and sweeps are of geosft-graph and geosft-sequence: of clouds, train once for each "
           "--seed, or for each folder of a division";
  }
  return std::string("unknown ") + (is_option ? "option" : "command") + " '" + name + "'" +
         (meant.empty() ? nearest_hint(name, is_option ? option_names(app) : subcommands)
                        : "; did you mean " + meant + "?");
}

std::string first_line(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

std::string shell_word(const std::string& word) {
  const auto is_plain = [](unsigned char letter) {
    return letter >= 0x80 || std::isalnum(letter) != 0 ||
           std::string_view("_-./+,:@%=").find(static_cast<char>(letter)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

bool parse_arguments(CLI::App& app, int argc, const char* const* argv, std::ostream& out) {
  try {
    const std::vector<std::string> words = joined_flags(app, std::vector<std::string>(argv, argv + argc));
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    app.parse(static_cast<int>(pointers.size()), pointers.data());
    refuse_overwritten_inputs(app);
    return true;
  } catch (const CLI::CallForAllHelp&) {
    out << app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForHelp&) {
    out << app.help();
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
  } catch (const CLI::ParseError& error) {
    throw UsageError(explain(app, error));
  }
  return false;
}

}  // namespace geosft
