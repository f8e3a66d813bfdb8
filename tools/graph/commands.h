// SPDX-License-Identifier: Apache-2.0
// The verbs of geosft-graph; those with words for the items are geosft-sequence's, too.
#pragma once

#include "tools/common/verbs.h"
#include "tools/graph/item_words.h"

namespace geosft {

Command add_graph_train_command(CLI::App& verb, const ItemWords& words);
Command add_graph_eval_command(CLI::App& verb, const ItemWords& words);
Command add_graph_predict_command(CLI::App& verb, const ItemWords& words);
Command add_graph_info_command(CLI::App& verb, const ItemWords& words);
Command add_graph_sweep_command(CLI::App& verb, const ItemWords& words);
Command add_graph_encode_command(CLI::App& verb);

}  // namespace geosft
