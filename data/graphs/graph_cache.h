// SPDX-License-Identifier: Apache-2.0
// Caches graph datasets on disk that take long to read, as packed graphs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "data/packed_items.h"

namespace geosft {

// What all readers of graph datasets are told.
struct GraphReadOptions {
  std::filesystem::path cache = {};                                // empty: default_cache_folder()
  std::function<void(int64_t done, int64_t total)> progress = {};  // called now and then by one thread at a time
  std::string split = {};  // the name of one of several published splits; empty: the only one
  bool directed = false;   // leave the edges of OGB sets and lists of edges as they are; else missing ones are added
};

// One file per dataset. `id` says which dataset it is, `key` everything its contents depend on, as in ShapeCache.
class GraphCache {
 public:
  // Without a folder (empty) nothing is ever stored.
  explicit GraphCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Nothing when absent, stale or damaged.
  std::optional<PackedItems> load(const std::string& id, const std::string& key) const;
  // Atomically; false when the folder cannot be written to or is full.
  bool store(const std::string& id, const std::string& key, const PackedItems& packed) const;
  std::filesystem::path file(const std::string& id) const;

 private:
  std::filesystem::path folder_;
};

// The dataset from the cache of `options`, or, where it is not there, made and stored.
PackedItems cached_graphs(const GraphReadOptions& options, const std::string& id, const std::string& key,
                          const std::function<PackedItems()>& make);

}  // namespace geosft
