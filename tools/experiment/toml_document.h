// SPDX-License-Identifier: Apache-2.0
// Parses TOML with errors for the user. Include only in .cpp files: toml++ takes long to compile.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

namespace geosft {

// Throws UsageError naming `source` and line for invalid TOML.
toml::table parse_toml(const std::string& text, const std::string& source);

// Reads the text of a TOML file; throws UsageError if it cannot be read.
std::string read_toml_text(const std::filesystem::path& file);

// Throws UsageError with `source`, the line of `node`, and the message.
[[noreturn]] void fail_toml(const std::string& source, const toml::node& node, const std::string& message);

// Formats a value in TOML syntax, for messages.
std::string toml_text(const toml::node& node);

}  // namespace geosft
