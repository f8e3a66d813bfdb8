// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_cache.h"

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/graphs/packed_graphs_file.h"

namespace geosft {

std::filesystem::path GraphCache::file(const std::string& id) const {
  return cache_file(folder_, id, ".graphs.h5");
}

std::optional<PackedItems> GraphCache::load(const std::string& id, const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  try {
    if (packed_graphs_key(file(id)) != key) return std::nullopt;
    return read_packed_graphs(file(id));
  } catch (const DataError&) {
    return std::nullopt;
  }
}

bool GraphCache::store(const std::string& id, const std::string& key, const PackedItems& packed) const {
  if (!make_cache_folder(folder_)) return false;
  try {
    write_packed_graphs(file(id), packed, key);
    return true;
  } catch (const DataError&) {
    return false;
  }
}

namespace {

GraphCache cache_of(const GraphReadOptions& options) {
  return GraphCache(options.cache.empty() ? default_cache_folder() : options.cache);
}

}  // namespace

std::optional<PackedItems> stored_graphs(const GraphReadOptions& options, const std::string& id,
                                         const std::string& key) {
  return cache_of(options).load(id, key);
}

PackedItems cached_graphs(const GraphReadOptions& options, const std::string& id, const std::string& key,
                          const std::function<PackedItems()>& make) {
  const GraphCache cache = cache_of(options);
  if (std::optional<PackedItems> stored = cache.load(id, key)) return std::move(*stored);
  PackedItems packed = make();
  cache.store(id, key, packed);  // on failure the dataset is made again next time
  return packed;
}

}  // namespace geosft
