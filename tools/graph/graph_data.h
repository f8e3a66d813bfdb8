// SPDX-License-Identifier: Apache-2.0
// The dataset of an experiment, encoded and split.
#pragma once

#include <string>
#include <vector>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"
#include "tools/graph/graph_settings.h"

namespace CLI {
class App;
}

namespace geosft {

enum class Part { train, validation, test };
Part part_of(const std::string& name);  // "train", "validation" or "test"
const char* part_name(Part part);

// --split-name and --directed, for subcommands without a configuration.
void add_read_options(CLI::App& subcommand, GraphReadOptions& options);

// A dataset, with its warnings, and progress while it is made from what was published, on stderr; `longest` as
// open_sequence_dataset has it. Throws UsageError for a single graph without labels.
PackedItems open_graphs(const std::string& source, GraphReadOptions options = {}, int64_t longest = 0);

// The graphs of a dataset, or the one of a list of edges or a Matrix Market file: what can be encoded.
struct OpenedStructure {
  GraphBatch graphs;
  at::Tensor ids;  // int64 [N], the numbers that nodes of a single graph have in its file; else undefined
};
OpenedStructure open_structure(const std::string& source, const GraphReadOptions& options);

// Graphs get the encoding of their nodes. That it is an estimate, and how far off it may be, is said on stderr.
void take_encoding(PackedItems& graphs, const EncodedNodes& encoded, const NodeEncodingOptions& options);

// The dataset that the settings name, with the encoding of nodes that they ask for, from the cache where it lies there.
PackedItems open_encoded_graphs(const GraphSettings& settings);

// The parts of a dataset: the published ones; where nodes are split instead, every graph in all parts that have a node
// with a target; else folds of the graphs, by class where they have one. Without a published validation part, a share
// of the training graphs is held out. Throws UsageError when a part that is needed is empty, and for a share of nodes.
DatasetSplit split_of(const PackedItems& graphs, const SplitSettings& settings);

const std::vector<int64_t>& items_of_part(const DatasetSplit& split, Part part);

// Targets with everything outside the part made missing (-1 of classes, NaN of labels): of nodes with a node_split;
// else as they are.
at::Tensor target_of_part(const at::Tensor& target, const at::Tensor& node_split, Part part);

}  // namespace geosft
