// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// Runs a program found in PATH with these arguments (the first is its name) in `folder`, without a shell and without
// input; what it prints goes to the file `log` in that folder. The exit status as waitpid gives it, or minus the error
// number when it could not be started (-ENOENT: there is no such program).
int run_program(std::vector<std::string> words, const std::filesystem::path& folder, const std::string& log);

}  // namespace geosft
