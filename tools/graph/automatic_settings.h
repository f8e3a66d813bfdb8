// SPDX-License-Identifier: Apache-2.0
// Derives the settings that are "auto" from the sizes of a dataset. The rules were fixed on sets of series of 24 to
// 1,460 steps with 28 to 540 training series; test sets chose none of the values of a run.
#pragma once

#include <string>

#include "data/packed_items.h"
#include "tools/graph/graph_settings.h"

namespace geosft {

// What the rules depend on: N items to train on (before any are held out), and the longest of them.
struct DataSizes {
  int64_t items = 1;
  int64_t longest = 1;  // steps or nodes
  bool series = true;   // numbers in order: may be grouped into patches
};
DataSizes data_sizes(const PackedItems& items, const SplitSettings& splits);

// Replaces every automatic setting:
//   patch_size            ceil(longest / 32) steps, at most 32: 17 to 32 tokens up to 1,024 steps; 1 for other data
//   batch_size            N / 8, rounded down to a power of two from 8 to 64
//   epochs                as many as 1,200 steps take, from 30 to 200
//   validation_fraction   0.2
//   token_dropout, feed_forward_dropout   0.1 from 1,000 items on, 0.2 below
//   drop_token_rate       0.1
//   beta                  of beta_by_set for the name of the set of series (its second number for the bn_sh
//   attentions),
//                         0.5 for others
// Items must be as they were read, not yet in patches. Returns "batch_size 16, epochs 75", the settings replaced;
// empty if there is none.
std::string resolve_automatic(GraphSettings& settings, const PackedItems& items);

}  // namespace geosft
