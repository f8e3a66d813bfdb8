// SPDX-License-Identifier: Apache-2.0
// Caches graph datasets that are slow to read on disk, as packed graphs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/graphs/molecule_features.h"
#include "data/packed_items.h"

namespace geosft {

// Options of all readers of graph datasets.
struct GraphReadOptions {
  std::filesystem::path cache = {};                                // empty: default_cache_folder()
  std::function<void(int64_t done, int64_t total)> progress = {};  // called occasionally, by one thread at a time
  std::string split = {};  // the name of one of several published splits; empty: the only one
  bool directed =
      false;             // keep the edges of OGB and TU datasets and edge lists; otherwise missing directions are added
  bool coalesce = true;  // leave out self-loops and repeated edges of TU datasets
  ChiralTags chiral_tags = ChiralTags::canonical;  // of tables and lists of SMILES; published sets have written ones
  // Of tables of molecules (molecule_table.h); empty: found by its name or its contents.
  std::string smiles_column = {};
  // Of tables of molecules and XYZ files (table_labels.h), and of QM9; empty: the columns of numbers, or all targets.
  std::vector<std::string> label_columns = {};
  std::filesystem::path split_folder = {};  // of tables and XYZ files: with the lists of a split; empty: none
  // What a trained model knows: tables of molecules, XYZ files and TU datasets are read with its task, outputs and
  // labels, not with those that their contents suggest.
  std::optional<ItemSchema> known = {};
};

// Stores one file per dataset. `id` identifies the dataset; `key` describes everything its contents depend on, as in
// ShapeCache.
class GraphCache {
 public:
  // With an empty path nothing is stored.
  explicit GraphCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // Returns nothing if the file is absent, stale or damaged.
  std::optional<PackedItems> load(const std::string& id, const std::string& key) const;
  // Writes atomically. Returns false if the folder cannot be written to or is full.
  bool store(const std::string& id, const std::string& key, const PackedItems& packed) const;
  std::filesystem::path file(const std::string& id) const;

 private:
  std::filesystem::path folder_;
};

// Loads the dataset from the cache of `options`; nothing on a cache miss.
std::optional<PackedItems> stored_graphs(const GraphReadOptions& options, const std::string& id,
                                         const std::string& key);

// Loads the dataset from the cache of `options`; on a cache miss, makes and stores it.
PackedItems cached_graphs(const GraphReadOptions& options, const std::string& id, const std::string& key,
                          const std::function<PackedItems()>& make);

}  // namespace geosft
