// SPDX-License-Identifier: Apache-2.0
// Derives the settings that are "auto" from the sizes of a dataset.
#pragma once

#include <string>

#include "data/packed_items.h"
#include "tools/experiment/graph_settings.h"

namespace geosft {

// Sizes of the training data that the rules depend on.
struct DataSizes {
  int64_t items = 1;         // to train on, before any are held out
  int64_t longest = 1;       // of them: steps or nodes
  int64_t examples = 1;      // what has a target: items, or the nodes of all items
  double mean = 1.0;         // mean number of nodes or steps of all items
  int64_t values = 0;        // numbers per step or node
  int64_t common_class = 1;  // items of the most common class; all items if there are no classes
  bool series = true;        // numbers in order: may be grouped into patches
};
DataSizes data_sizes(const PackedItems& items, const SplitSettings& splits);

// Replaces every automatic setting:
//   patch_size            ceil(longest / 32) steps, so 17 to 32 tokens, but at most 32 steps and at most 512 numbers
//                         per token (at least one step); 1 for data other than series
//   batch_size            items / 32, rounded down to a power of two from 16 to 64
//   epochs                as many as 1,200 optimiser steps take, from 30 to 400; for graphs 3,000 steps, from 20 to 200
//   validation_fraction   0.2; 0 if no class has three items, of which one could be held out: the last epoch is taken.
//                         For graphs 0.1; 0 if that is fewer than 5 graphs, if no class has 5, or if nodes are split
//   dim, num_heads, depth 32, 8 channels per head, and 3; for more than 400 examples 64 and for more than 4,000 also 4
//                         layers
//   num_samples           a third of the mean number of nodes, rounded up to a power of two from 4 to 64
//   ema_decay             average_decay_of the steps
//   token_dropout, feed_forward_dropout   0.1; 0.2 if a token has more numbers than there are items
//   beta                  of beta_by_set for the name of the set of series, for bn_sh attentions its second number;
//                         0.5 for others
// Items must be as they were read, not yet in patches. Returns "batch_size 16, epochs 75", the settings replaced;
// empty if there is none.
std::string resolve_automatic(GraphSettings& settings, const PackedItems& items);

}  // namespace geosft
