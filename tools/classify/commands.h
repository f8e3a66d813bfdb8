// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of geosft-classify.
#pragma once

#include "tools/experiment/subcommand.h"

namespace geosft {

Command add_train_command(CLI::App& subcommand);
Command add_eval_command(CLI::App& subcommand);
Command add_predict_command(CLI::App& subcommand);
Command add_info_command(CLI::App& subcommand);
Command add_export_command(CLI::App& subcommand);

}  // namespace geosft
