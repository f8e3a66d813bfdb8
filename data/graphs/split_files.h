// SPDX-License-Identifier: Apache-2.0
// Reads published splits: text files with one item index per line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

// The three files of a split, each plain or compressed (.gz appended to the name).
struct SplitFiles {
  std::filesystem::path train, validation, test;
};

// Reads items in 0 … count - 1. Throws DataError, naming file and line, for an absent file and for a number that is out
// of range or duplicated.
DatasetSplit read_split(const SplitFiles& files, int64_t count);

// Restricts a split to the items `kept` (ascending): kept[i] becomes item i.
DatasetSplit restricted_split(const DatasetSplit& split, const std::vector<int64_t>& kept, int64_t count);

}  // namespace geosft
