// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of geosft-analyze.
#pragma once

#include "tools/experiment/subcommand.h"

namespace geosft {

AddCommand add_rank_command, add_depth_command, add_pseudoconvexity_command, add_gradients_command,
    add_sampling_command, add_ablations_command, add_heads_command, add_embedding_command, add_family_command,
    add_cost_command;

}  // namespace geosft
