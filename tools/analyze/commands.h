// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of geosft-analyze.
#pragma once

#include "tools/experiment/subcommand.h"

namespace geosft {

Command add_rank_command(CLI::App& subcommand);
Command add_depth_command(CLI::App& subcommand);
Command add_pseudoconvexity_command(CLI::App& subcommand);
Command add_gradients_command(CLI::App& subcommand);
Command add_sampling_command(CLI::App& subcommand);
Command add_ablations_command(CLI::App& subcommand);
Command add_heads_command(CLI::App& subcommand);
Command add_embedding_command(CLI::App& subcommand);
Command add_family_command(CLI::App& subcommand);
Command add_cost_command(CLI::App& subcommand);

}  // namespace geosft
