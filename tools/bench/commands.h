// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of geosft-bench.
#pragma once

#include "tools/experiment/subcommand.h"

namespace geosft::bench {

Command add_run_command(CLI::App& subcommand);
Command add_ladder_command(CLI::App& subcommand);
Command add_frame_command(CLI::App& subcommand);
Command add_errors_command(CLI::App& subcommand);
Command add_almost_linear_command(CLI::App& subcommand);
Command add_follow_command(CLI::App& subcommand);
Command add_parts_command(CLI::App& subcommand);
Command add_machine_command(CLI::App& subcommand);

}  // namespace geosft::bench
