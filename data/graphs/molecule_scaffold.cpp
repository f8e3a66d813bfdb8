// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/molecule_inputs.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "data/graphs/molecule_features.h"
#include "geometry/threads.h"

#ifdef GEOSFT_RDKIT
#include <GraphMol/ChemTransforms/ChemTransforms.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>

#include "data/graphs/rdkit_molecule.h"
#endif

namespace geosft {

#ifdef GEOSFT_RDKIT

std::string murcko_scaffold(const std::string& smiles) {
  const std::unique_ptr<RDKit::ROMol> mol = rdkit_molecule(smiles);
  const std::unique_ptr<RDKit::ROMol> scaffold(RDKit::MurckoDecompose(*mol));
  if (!scaffold || scaffold->getNumAtoms() == 0) return {};
  scaffold->clearComputedProps();
  scaffold->updatePropertyCache();
  RDKit::MolOps::symmetrizeSSSR(*scaffold);
  return RDKit::MolToSmiles(*scaffold, /*doIsomericSmiles=*/true);
}

#else

std::string murcko_scaffold(const std::string&) {
  throw_without_rdkit();
}

#endif

std::vector<int64_t> scaffold_groups(const std::vector<std::string>& smiles) {
  std::vector<std::string> scaffolds(smiles.size());
  parallel_items(static_cast<int64_t>(smiles.size()), at::get_num_threads(), [&](int64_t i) {
    const auto place = static_cast<size_t>(i);
    try {
      scaffolds[place] = murcko_scaffold(smiles[place]);
    } catch (const std::invalid_argument&) {
      scaffolds[place] = "invalid " + smiles[place];  // the blank keeps it apart from any SMILES
    }
  });
  std::map<std::string, int64_t> numbers;
  std::vector<int64_t> groups;
  groups.reserve(smiles.size());
  for (const std::string& scaffold : scaffolds) {
    groups.push_back(numbers.emplace(scaffold, static_cast<int64_t>(numbers.size())).first->second);
  }
  return groups;
}

DatasetSplit grouped_split(const std::vector<int64_t>& group, double train_fraction, double validation_fraction) {
  std::map<int64_t, std::vector<int64_t>> by_group;
  for (size_t i = 0; i < group.size(); ++i) by_group[group[i]].push_back(static_cast<int64_t>(i));
  std::vector<std::vector<int64_t>> groups;
  groups.reserve(by_group.size());
  for (auto& [number, items] : by_group) groups.push_back(std::move(items));
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() > b.front();
  });
  const auto count = static_cast<double>(group.size());
  const double train_end = train_fraction * count, validation_end = (train_fraction + validation_fraction) * count;
  DatasetSplit split;
  for (const std::vector<int64_t>& items : groups) {
    const size_t trained = split.train.size() + items.size(), validated = trained + split.validation.size();
    std::vector<int64_t>& chosen = static_cast<double>(trained) <= train_end          ? split.train
                                   : static_cast<double>(validated) <= validation_end ? split.validation
                                                                                      : split.test;
    chosen.insert(chosen.end(), items.begin(), items.end());
  }
  for (std::vector<int64_t>* items : {&split.train, &split.validation, &split.test})
    std::sort(items->begin(), items->end());
  return split;
}

}  // namespace geosft
