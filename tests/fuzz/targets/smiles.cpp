// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "data/graphs/molecule_features.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// A folder for the cache that nobody can make: every input is read.
GraphReadOptions without_cache() {
  GraphReadOptions options;
  options.cache = "/dev/null/cache";
  return options;
}

Inputs smiles_seeds() {
  const std::string labels = ",\"[0, 1, 0, 0, 0, 0, 1, 0, 0, 0]\"\n";
  return {joined({"smiles,labels\nCC(=O)Oc1ccccc1C(=O)O" + labels + "[13CH3][C@@H](N)C(=O)[O-]" + labels + "F/C=C/F" +
                      labels,
                  "0\n", "1\n", "2\n"}),
          joined({"smiles,labels\n[Na+].[Cl-]" + labels + "\"C#N\"" + labels + "not a molecule" + labels, "0\n2\n",
                  "1\n", ""})};
}

const Registration smiles({"smiles",
                           of_folder({"peptide_multi_class_dataset.csv", "split_train.txt", "split_val.txt",
                                      "split_test.txt"},
                                     [](const auto& folder) {
                                       if (!molecule_library().empty()) read_peptides(folder, without_cache());
                                     }),
                           smiles_seeds});

}  // namespace
}  // namespace geosft::fuzz
