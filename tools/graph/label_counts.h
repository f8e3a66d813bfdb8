// SPDX-License-Identifier: Apache-2.0
// Counts the labels of graphs: how many are known, of which class, and in which split.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

// Returns a line for each label or target of graphs: `"active": 5 known (2 of 1, 3 of 0), 1 unknown; train 4 (2 of 1),
// validation 0, test 1 (0 of 1)`, without the splits if there is none. At most `max_lines`; empty for other tasks.
std::vector<std::string> label_lines(const PackedItems& graphs, const std::optional<DatasetSplit>& split,
                                     size_t max_lines);

}  // namespace geosft
