// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/toml_document.h"

#include <sstream>

#include "data/points/shape.h"
#include "data/read_file.h"
#include "tools/experiment/arguments.h"

namespace geosft {

toml::table parse_toml(const std::string& text, const std::string& source) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    if (source.ends_with(".yaml") || source.ends_with(".yml")) {
      throw UsageError(source +
                       ": expected a configuration in TOML, as those of tools/configs, found YAML; "
                       "tools/MIGRATING.md has the names of keys");
    }
    throw UsageError(source + ":" + std::to_string(error.source().begin.line) + ": " +
                     std::string(error.description()));
  }
}

std::string read_toml_text(const std::filesystem::path& file) {
  try {
    return read_file(file);
  } catch (const DataError& error) {
    throw UsageError(std::string("cannot read the configuration ") + error.what());
  }
}

void fail_toml(const std::string& source, const toml::node& node, const std::string& message) {
  throw UsageError(source + ":" + std::to_string(node.source().begin.line) + ": " + message);
}

std::string toml_text(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

}  // namespace geosft
