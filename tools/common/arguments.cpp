// SPDX-License-Identifier: Apache-2.0
#include "tools/common/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <vector>

#include "tools/common/nearest_name.h"

namespace geosft {
namespace {

// The verb that was named, where there is one.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  return verbs.empty() ? app : chosen(*verbs.front());
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_name().empty()) names.push_back(verb->get_name());
  }
  return names;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return first_line(error.what());
  const auto option =
      std::find_if(extras.begin(), extras.end(), [](const auto& text) { return text.rfind('-', 0) == 0; });
  return unknown_option_message(chosen(app), option == extras.end() ? extras.front() : *option);
}

}  // namespace

std::string unknown_option_message(const CLI::App& app, const std::string& argument) {
  const bool is_option = argument.rfind('-', 0) == 0;
  const std::string name = is_option ? argument.substr(0, argument.find('=')) : argument;
  const std::string nearest = nearest_name(name, is_option ? option_names(app) : verb_names(app));
  if (!is_option && nearest.empty()) return "unexpected argument '" + name + "'";
  std::string message = std::string("unknown ") + (is_option ? "option" : "command") + " '" + name + "'";
  if (!nearest.empty()) message += "; the nearest known is '" + nearest + "'";
  return message;
}

bool parse_arguments(CLI::App& app, int argc, const char* const* argv, std::ostream& out) {
  try {
    app.parse(argc, argv);
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
