// SPDX-License-Identifier: Apache-2.0
// Opens, encodes and splits the dataset of an experiment.
#pragma once

#include <string>
#include <vector>

#include "data/graphs/graph_cache.h"
#include "data/packed_items.h"
#include "tools/experiment/graph_settings.h"

namespace CLI {
class App;
}

namespace geosft {

enum class GraphSplit { train, validation, test };
GEOSFT_ENUM_NAMES(GraphSplit, train, validation, test);

// Adds --split-name, --directed, --coalesce, --smiles-column and --label-columns, for subcommands without a
// configuration.
void add_read_options(CLI::App& subcommand, GraphReadOptions& options);

// Returns whether `source` is a file of one graph without labels: an edge list or a Matrix Market file, not a table of
// molecules, whose ending may be the same.
bool is_single_graph(const std::string& source, const GraphReadOptions& options);

// Opens a dataset; prints its warnings, and the progress of converting published files, to stderr. `longest` is passed
// to open_sequence_dataset. Throws UsageError for a single graph without labels.
PackedItems open_graphs(const std::string& source, GraphReadOptions options = {}, int64_t longest = 0);

// Throws DataError for what exists and is neither a dataset of sequences nor one that graphs are read from, with the
// forms of sequences alone; names the tables of series beside it.
void require_sequences(const std::string& source);

// Graphs to encode: those of a dataset, or the one in an edge list or a Matrix Market file.
struct OpenedStructure {
  GraphBatch graphs;
  at::Tensor ids;  // int64 [N], node IDs in the file of a single graph; else undefined
};
OpenedStructure open_structure(const std::string& source, const GraphReadOptions& options);

// Stores the node encoding in the graphs. For an estimated encoding, prints its standard error to stderr.
void take_encoding(PackedItems& graphs, const EncodedNodes& encoded, const NodeEncodingOptions& options);

// Computes the features of whole graphs that the settings name; unchanged if they name none. The schema counts their
// columns if the head of the network sees them. Throws UsageError, naming
// `source`, for features of molecules and graphs without SMILES, and for sequences and data with targets of nodes.
void take_graph_vectors(PackedItems& graphs, const MoleculeSettings& settings, const std::string& source);

// Splits items into patches and truncates them, as the settings say.
PackedItems in_tokens(PackedItems items, const GraphSettings& settings);

// Opens the dataset of the settings with its node encoding and features of whole graphs, read from the cache if
// possible. `known` are the features and outputs of a trained model, as in GraphReadOptions; or null. If `labelled`,
// throws DataError for data without a known label, before it computes anything.
PackedItems open_encoded_graphs(const GraphSettings& settings, const ItemSchema* known = nullptr,
                                bool labelled = false);

// Opens the dataset to train on, with what its settings are once those that are automatic are derived from it
// (automatic_settings.h).
struct TrainingGraphs {
  GraphSettings settings;
  PackedItems graphs;
  std::string derived;  // the derived settings for the user; empty: none
};
TrainingGraphs open_training_graphs(GraphSettings settings);

// Returns the splits of a dataset as `settings.split` says (SplitSettings): for node splits, every graph in each split
// where a node has a target; folds are stratified by the class of a graph if any. Without a validation split, a
// fraction of the training graphs is held out. Throws UsageError if a required split is empty, for a fraction of nodes,
// for a published split that the dataset does not have, and for scaffolds of graphs without SMILES.
DatasetSplit split_of(const PackedItems& graphs, const SplitSettings& settings);
// Returns a warning for each of the training and the test split in which some classes have no graph, or node.
std::vector<std::string> empty_classes_warnings(const PackedItems& graphs, const DatasetSplit& splits);
// Returns a warning for each of the validation and the test split of graphs in which known labels are all 0 or all 1,
// so that they have no ROC-AUC there; and says where no label is left by which the validation split could choose.
std::vector<std::string> one_sided_labels_warnings(const PackedItems& graphs, const DatasetSplit& splits);
// Returns "3 graphs" or "1 graph".
std::string counted_items(int64_t count, const std::string& items);
// Returns "the test split has 3 graphs, too few for a figure" for fewer than five items; otherwise, and for splits of
// nodes, an empty text.
std::string few_items_warning(const PackedItems& graphs, const DatasetSplit& splits, GraphSplit split);

// Returns "3 of the 40 test molecules have a SMILES that is also trained on", with what helps; empty without such.
std::string shared_molecules_warning(const PackedItems& graphs, const DatasetSplit& splits);

// Returns the SMILES of a molecule, the file of a picture, or the name of another item; empty if it has none.
std::string name_of_item(const PackedItems& items, int64_t item);
// Returns the class of an item, or its targets, "1;;0.5", where unknown ones are empty; an empty text where all are,
// and where nodes have the targets.
std::string label_of_item(const PackedItems& items, int64_t item);

const std::vector<int64_t>& items_of_split(const DatasetSplit& splits, GraphSplit split);

// Marks targets of nodes outside the split as missing (-1 for classes, NaN for labels); unchanged without a node_split.
at::Tensor targets_of_split(const at::Tensor& target, const at::Tensor& node_split, GraphSplit split);

}  // namespace geosft
