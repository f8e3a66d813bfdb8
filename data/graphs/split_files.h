// SPDX-License-Identifier: Apache-2.0
// Published splits: text files with the number of an item on every line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/packed_items.h"

namespace geosft {

// The three files of a split, each of them plain or, with .gz after its name, compressed.
struct SplitFiles {
  std::filesystem::path train, validation, test;
};

// Items from 0 to count - 1. Throws DataError, naming file and line, when a file is absent, for a number that is none
// of these, and for one that has been read before.
DatasetSplit read_split(const SplitFiles& files, int64_t count);

// The split of what is left when only the items `kept`, ascending, stay: kept[i] becomes item i.
DatasetSplit restricted_split(const DatasetSplit& split, const std::vector<int64_t>& kept, int64_t count);

}  // namespace geosft
