// SPDX-License-Identifier: Apache-2.0
// The subcommands of geosft-graph; those with words for the items are geosft-sequence's, too.
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
