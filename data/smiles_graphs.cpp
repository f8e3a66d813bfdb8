// SPDX-License-Identifier: Apache-2.0
#include "data/smiles_graphs.h"

#include <ATen/Parallel.h>

#include <mutex>
#include <stdexcept>
#include <utility>

#include "data/molecule_features.h"
#include "data/shape.h"
#include "geometry/packed.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

struct ParsedSmiles {
  Molecule molecule;
  std::string error;
};

std::vector<ParsedSmiles> parse_all(const SmilesColumn& column, const GraphReadOptions& options) {
  const auto total = static_cast<int64_t>(column.smiles.size());
  std::vector<ParsedSmiles> parsed(column.smiles.size());
  std::mutex mutex;
  int64_t done = 0;
  parallel_items(total, at::get_num_threads(), [&](int64_t i) {
    ParsedSmiles& out = parsed[static_cast<size_t>(i)];
    try {
      out.molecule = molecule_from_smiles(column.smiles[static_cast<size_t>(i)]);
    } catch (const std::invalid_argument& error) {
      out.error = error.what();
    }
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    options.progress(++done, total);
  });
  return parsed;
}

std::vector<std::string> remarks_on(const SmilesColumn& column, const std::vector<ParsedSmiles>& parsed) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < parsed.size(); ++i) {
    if (parsed[i].error.empty()) continue;
    constexpr size_t longest = 80;
    const std::string& smiles = column.smiles[i];
    warnings.push_back(column.file + ":" + std::to_string(column.lines[i]) + ": invalid SMILES \"" +
                       smiles.substr(0, longest) + (smiles.size() > longest ? "…" : "") + "\": " + parsed[i].error);
  }
  if (!warnings.empty()) {
    warnings.insert(warnings.begin(), column.file + ": " + std::to_string(warnings.size()) + " of " +
                                          std::to_string(parsed.size()) + " SMILES are invalid and left out");
  }
  return warnings;
}

// All molecules one after the other, edges by rows of the whole.
struct JoinedMolecules {
  std::vector<int64_t> offsets = {0}, source, target;
  std::vector<uint8_t> atoms, bonds;

  void add(const Molecule& molecule) {
    const int64_t first = offsets.back();
    atoms.insert(atoms.end(), molecule.atoms.begin(), molecule.atoms.end());
    bonds.insert(bonds.end(), molecule.bonds.begin(), molecule.bonds.end());
    for (const int32_t atom : molecule.source) source.push_back(first + atom);
    for (const int32_t atom : molecule.target) target.push_back(first + atom);
    offsets.push_back(first + molecule.atom_count());
  }
};

at::Tensor feature_table(const std::vector<uint8_t>& values, const std::vector<int64_t>& vocabulary) {
  return at::tensor(values, at::kByte).to(at::kLong).view({-1, static_cast<int64_t>(vocabulary.size())});
}

}  // namespace

SmilesGraphs graphs_from_smiles(const SmilesColumn& column, const GraphReadOptions& options) {
  const std::vector<ParsedSmiles> parsed = parse_all(column, options);
  SmilesGraphs out;
  JoinedMolecules joined;
  for (size_t i = 0; i < parsed.size(); ++i) {
    if (!parsed[i].error.empty()) continue;
    out.rows.push_back(static_cast<int64_t>(i));
    joined.add(parsed[i].molecule);
  }
  PackedGraphs& packed = out.packed;
  packed.warnings = remarks_on(column, parsed);
  if (out.rows.empty()) {
    throw DataError(column.file, "a valid SMILES", packed.warnings.empty() ? "no rows" : packed.warnings.at(1));
  }
  packed.schema.node_vocabulary = atom_vocabulary;
  packed.schema.edge_vocabulary = bond_vocabulary;
  packed.node_categories = feature_table(joined.atoms, atom_vocabulary);
  CsrGraph& graph = packed.graphs.graph;
  graph = graph_from_edges(at::tensor(joined.source, at::kLong), at::tensor(joined.target, at::kLong),
                           joined.offsets.back(), feature_table(joined.bonds, bond_vocabulary));
  packed.edge_categories = std::exchange(graph.edge_attr, at::Tensor());
  packed.graphs.ptr = offsets_tensor(joined.offsets);
  return out;
}

}  // namespace geosft
