// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of settings: the keys of a configuration, and options that the values of other keys make no use
// of.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/experiment/arguments.h"
#include "tools/experiment/config.h"

namespace geosft::test {

// Keys with which the configurations of clouds begin, with values that are not their defaults.
inline const std::string first_cloud_keys = R"(data = "elsewhere"
seed = 7
workers = 2
[clouds]
points = 100
normals = false
points_per_mesh = 500
point_sampling = "fps"
)";

// Returns the lines of a configuration that set a key.
inline std::set<std::string> key_lines(const std::string& toml) {
  std::istringstream in(toml);
  std::set<std::string> found;
  for (std::string line; std::getline(in, line);) {
    if (line.find('=') != std::string::npos) found.insert(line);
  }
  return found;
}

// Returns what is said of a command line of unused options, over a file of `toml`; nothing where all are used.
template <class Settings>
std::string said_of_unused(const std::string& toml, const std::vector<std::string>& options) {
  Settings settings;
  Config config = settings.config();
  CLI::App app("tool");
  config.add_options(app);
  std::vector<const char*> words = {"tool"};
  for (const std::string& option : options) words.push_back(option.c_str());
  std::ostringstream out;
  parse_arguments(app, static_cast<int>(words.size()), words.data(), out);
  config.set_text(toml);
  config.apply_options();
  try {
    config.refuse_unused(settings.key_uses());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace geosft::test
