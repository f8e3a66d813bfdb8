// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands that geosft-sequence has in addition to those of geosft-graph.
#pragma once

#include "tools/experiment/subcommand.h"

namespace geosft {

Command add_generate_command(CLI::App& subcommand);

}  // namespace geosft
