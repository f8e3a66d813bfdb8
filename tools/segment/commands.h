// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of geosft-segment.
#pragma once

#include "tools/experiment/subcommand.h"

namespace geosft {

Command add_segment_train_command(CLI::App& subcommand);
Command add_segment_eval_command(CLI::App& subcommand);
Command add_segment_predict_command(CLI::App& subcommand);
Command add_segment_info_command(CLI::App& subcommand);

}  // namespace geosft
