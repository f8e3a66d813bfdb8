// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// Runs a program found in PATH with these arguments (the first is its name) in `folder`, without a shell and without
// input; its output goes to the file `log` in that folder. Returns the exit status as given by waitpid, or the negated
// errno if it could not be started (-ENOENT: no such program).
int run_program(std::vector<std::string> words, const std::filesystem::path& folder, const std::string& log);

}  // namespace geosft
