// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"

#include "data/graphs/ogb_dataset.h"
#include "data/graphs/packed_graphs_file.h"
#include "data/graphs/peptides.h"
#include "data/graphs/xyz_molecules.h"
#include "data/points/shape.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

// Columns of classes share the numbers of all columns, so each may have any of them.
void take_labels(const TuLabels& labels, at::Tensor& categories, std::vector<int64_t>& vocabulary,
                 std::vector<int64_t>& numbers) {
  if (!labels.classes.defined()) return;
  categories = labels.classes;
  vocabulary.assign(static_cast<size_t>(categories.size(1)), labels.count());
  numbers = labels.values;
}

void take_target(const TuDataset& set, PackedItems& packed) {
  if (set.graph_labels.classes.defined()) {
    packed.target = set.graph_labels.classes;
    for (const int64_t value : set.graph_labels.values) packed.schema.output_names.push_back(std::to_string(value));
    return;
  }
  packed.schema.task = GraphTask::regression;
  packed.target = set.graph_attributes;
  if (!packed.target.defined()) return;
  for (int64_t column = 0; column < packed.target.size(1); ++column) {
    packed.schema.output_names.push_back("target " + std::to_string(column));
  }
}

}  // namespace

PackedItems packed_items(const TuDataset& set) {
  PackedItems packed;
  packed.graphs = set.graphs;
  take_labels(set.node_labels, packed.node_categories, packed.schema.node_vocabulary, packed.schema.node_labels);
  take_labels(set.edge_labels, packed.edge_categories, packed.schema.edge_vocabulary, packed.schema.edge_labels);
  packed.node_values = set.node_attributes;
  packed.edge_values = set.edge_attributes;
  packed.schema.node_values = set.node_attributes.defined() ? set.node_attributes.size(1) : 0;
  packed.schema.edge_values = set.edge_attributes.defined() ? set.edge_attributes.size(1) : 0;
  take_target(set, packed);
  return packed;
}

PackedItems open_graph_dataset(const std::filesystem::path& source, const GraphReadOptions& options) {
  if (!std::filesystem::exists(source)) throw DataError(source.string(), "a graph dataset", "nothing of this name");
  if (!std::filesystem::is_directory(source)) return read_packed_graphs(source);
  if (!options.split.empty() && !is_ogb_dataset(source)) {
    throw DataError(source.string(), "several published splits, one of them \"" + options.split + "\"",
                    "a set of another kind than OGB's");
  }
  check_links(source);
  if (is_peptides(source)) return read_peptides(source, options);
  if (is_ogb_dataset(source)) return read_ogb_dataset(source, options);
  if (is_xyz_molecules(source)) return read_xyz_molecules(source, options);
  if (!is_tu_dataset(source)) {
    throw DataError(source.string(),
                    "a folder with peptide_*_dataset.csv (Peptides-func, -struct), raw/graph-label.csv or "
                    "raw/node-label.csv (OGB), hof_qm7.txt (QM7), dsgdb9nsd_*.xyz (QM9), or *_A.txt and "
                    "*_graph_indicator.txt (TU datasets)",
                    "none of these");
  }
  PackedItems packed = packed_items(read_tu_dataset(source));
  check_packed_items(packed, source.string());
  return packed;
}

}  // namespace geosft
