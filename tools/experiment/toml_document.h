// SPDX-License-Identifier: Apache-2.0
// TOML whose errors are a user's: only for .cpp files, as toml++ takes long to compile.
#pragma once

#include <toml++/toml.h>

#include <filesystem>
#include <string>

namespace geosft {

// Throws UsageError, naming `source` and line, for broken TOML.
toml::table parse_toml(const std::string& text, const std::string& source);

// The text of a TOML file; throws UsageError when it cannot be read.
std::string read_toml_text(const std::filesystem::path& file);

// Throws UsageError: `source` and the line of `node`, then the message.
[[noreturn]] void fail_toml(const std::string& source, const toml::node& node, const std::string& message);

// A value as it would stand in a file, for messages.
std::string toml_text(const toml::node& node);

}  // namespace geosft
