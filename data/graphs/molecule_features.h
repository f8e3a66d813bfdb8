// SPDX-License-Identifier: Apache-2.0
// Molecules as graphs with the categorical features of the Open Graph Benchmark (its smiles2graph; Hu et al., "Open
// Graph Benchmark", 2020). RDKit reads the SMILES; a build without it says so when it is asked for a molecule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace geosft {

// Values that each feature of an atom may have. The columns: element (atomic number - 1; 118: none), chirality, degree
// with hydrogens, formal charge + 5, hydrogens, radical electrons, hybridisation (SP, SP2, SP3, SP3D, SP3D2, other),
// aromatic, in a ring. A value beyond a list has its last number.
inline const std::vector<int64_t> atom_vocabulary = {119, 5, 12, 12, 10, 6, 6, 2, 2};

// The same of a bond: type (single, double, triple, aromatic, other), stereo (none, Z, E, cis, trans, any), conjugated.
inline const std::vector<int64_t> bond_vocabulary = {5, 6, 2};

struct Molecule {
  std::vector<uint8_t> atoms;           // [atoms, 9]
  std::vector<int32_t> source, target;  // [edges], the two directions of a bond one after the other
  std::vector<uint8_t> bonds;           // [edges, 3]

  int64_t atom_count() const { return static_cast<int64_t>(atoms.size() / atom_vocabulary.size()); }
};

// "RDKit 2022.09.3", or empty where this build has none.
std::string molecule_library();

// The heavy atoms of a SMILES in its order, and the bonds in RDKit's, on whose version rare features depend: 2022.09 of
// Debian 12 counts a radical electron at the copper of [Cu]C, smiles2graph with 2026.9 none. Thread-safe. Throws
// std::invalid_argument, with the reason, when it is no valid SMILES or has no atoms, std::runtime_error in a build
// without RDKit.
Molecule molecule_from_smiles(const std::string& smiles);

}  // namespace geosft
