// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_cache.h"
#include "data/graphs/packed_graphs_file.h"
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// What a cache gives back is sound; what is not is no answer.
void read_graph_cache(const std::string& input) {
  static const InputFolder folder({});
  const GraphCache cache(folder.fill(""));
  test::write_text(cache.file("id"), input);
  const std::optional<PackedItems> found = cache.load("id", "key");
  if (found) check_packed_items(*found, "cache");
}

Inputs cache_seeds() {
  return {bytes_of_file([](const auto& file) {
    PackedItems packed = packed_sequences(at::tensor({0, 2, 3}, at::kLong), at::tensor({0, 1}, at::kLong), {"a", "b"});
    packed.node_values = at::ones({3, 1});
    packed.schema.node_values = 1;
    write_packed_graphs(file, packed, "key");
  })};
}

const Registration graph_cache({"graph_cache", read_graph_cache, cache_seeds});

}  // namespace
}  // namespace geosft::fuzz
