// SPDX-License-Identifier: Apache-2.0
// Graphs in a cache, marked so that a test sees where they come from.
#pragma once

#include <string>

#include "data/packed_graphs_file.h"
#include "tests/data/files.h"

namespace geosft::test {

// Gives every dataset of the cache this warning, under the key that it has. How many there are.
inline int mark_cached(const std::filesystem::path& cache, const std::string& warning) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    if (!entry.path().string().ends_with(".graphs.h5")) continue;
    PackedGraphs packed = read_packed_graphs(entry.path());
    packed.warnings = {warning};
    write_packed_graphs(entry.path(), packed, packed_graphs_key(entry.path()));
    ++found;
  }
  return found;
}

}  // namespace geosft::test
