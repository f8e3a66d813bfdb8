// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <ostream>
#include <vector>

namespace geosft {
namespace {

// The subcommand that was named, where there is one.
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
  const std::string nearest = nearest_name(name, is_option ? option_names(app) : subcommand_names(app));
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

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  name = name.substr(0, 64);  // a longer one is no misspelling, and would take its length times that of every known one
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  return nearest == known.end() ? std::string() : *nearest;
}

}  // namespace geosft
