// SPDX-License-Identifier: Apache-2.0
// The subcommand `info` of the trainers prints what a RUN folder, a checkpoint or a file holds.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "tools/experiment/subcommand.h"

namespace geosft {

// Adds WHAT (with help `what_help`), --seed, the options of `add_more` and the runtime options; the command passes WHAT
// to `describe`, which prints.
Command info_command(CLI::App& subcommand, const std::string& what_help,
                     const std::function<void(const std::filesystem::path&)>& describe,
                     const std::function<void(CLI::App&)>& add_more = {});

}  // namespace geosft
