// SPDX-License-Identifier: Apache-2.0
// Declares the subcommands of geosft-graph; those with an ItemWords argument also belong to geosft-sequence.
#pragma once

#include "tools/experiment/subcommand.h"
#include "tools/graph/item_words.h"

namespace geosft {

Command add_graph_train_command(CLI::App& subcommand, const ItemWords& words);
Command add_graph_eval_command(CLI::App& subcommand, const ItemWords& words);
Command add_graph_predict_command(CLI::App& subcommand, const ItemWords& words);
Command add_graph_info_command(CLI::App& subcommand, const ItemWords& words);
Command add_graph_sweep_command(CLI::App& subcommand, const ItemWords& words);
Command add_graph_encode_command(CLI::App& subcommand);

}  // namespace geosft
