// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/experiment/subcommand.h"

namespace geosft {

// Adds the options of `fetch`, which downloads published datasets (published_sets.h) by curl or wget; without a name it
// lists those for `program`.
Command fetch_command(CLI::App& subcommand, const std::string& program);

}  // namespace geosft
