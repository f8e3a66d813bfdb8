// SPDX-License-Identifier: Apache-2.0
// The subcommand `list` of the trainers prints the pretrained models of the zoo.
#pragma once

#include <string>

#include "tools/experiment/subcommand.h"

namespace geosft {

// Adds the subcommand that lists the models of one tool, or prints the card of one.
Command list_command(CLI::App& subcommand, const std::string& tool);

}  // namespace geosft
