// SPDX-License-Identifier: Apache-2.0
// Whole files as bytes.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// A regular file to be read. Throws DataError when it is absent, not a regular file, or cannot be read.
std::ifstream open_file(const std::filesystem::path& file);

// The bytes of a regular file. Throws DataError when it is absent, not a regular file, or cannot be read.
std::string read_file(const std::filesystem::path& file);

// The lines of a small text file that hold more than blanks, without blanks at either end. Throws DataError when the
// file cannot be read or has no such line.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// The only entry of a folder whose name ends so; empty where there is none or no folder. Throws DataError for several.
std::filesystem::path only_file(const std::filesystem::path& folder, const std::string& ending);

// Without blanks (space, tab, carriage return, line feed) at either end.
std::string_view trimmed(std::string_view text);

}  // namespace geosft
