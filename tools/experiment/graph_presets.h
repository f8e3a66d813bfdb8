// SPDX-License-Identifier: Apache-2.0
// The values of a training of graphs without a configuration file: small models that fit the data.
#pragma once

#include <set>
#include <string>

#include "data/graphs/graph_cache.h"

namespace geosft {

// Returns whether the graphs of a dataset are molecules whose SMILES are read: a table, or an OGB set with
// mapping/mol.csv.
bool names_molecules(const std::string& data, const GraphReadOptions& options);

// Returns, as TOML, a transformer whose sizes, epochs and validation split are derived from the data
// (automatic_settings.h).
std::string small_graph_preset();

// Returns, as TOML, the features of whole graphs and the kernel ridge regression on them beside such a transformer.
std::string graph_kernel_preset();

// Returns, as TOML, one model of the ensemble of tools/configs/graph/molecules.toml: a graph network whose head also
// gets descriptors, and for a regression beside it the fingerprints that this sees.
std::string small_molecule_preset(bool regression);

// Returns the preset of a dataset, beside which these keys are set. A table of molecules has that of molecules, unless
// one of the keys asks for attention. A TU set, whose targets are of graphs, has a transformer and the regression.
std::string small_preset(const std::string& data, const GraphReadOptions& reading, const std::set<std::string>& keys);

}  // namespace geosft
