// SPDX-License-Identifier: Apache-2.0
// Computes graphs of molecules with the categorical features of the Open Graph Benchmark (its smiles2graph; Hu et al.,
// "Open Graph Benchmark", 2020). RDKit parses the SMILES; a build without RDKit throws an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// Number of values of each atom feature. Columns: element (atomic number - 1; 118: none), chirality, degree with
// hydrogens, formal charge + 5, hydrogens, radical electrons, hybridisation (SP, SP2, SP3, SP3D, SP3D2, other),
// aromatic, in a ring. Values outside the list map to its last number.
inline const std::vector<int64_t> atom_vocabulary = {119, 5, 12, 12, 10, 6, 6, 2, 2};

// The same for bonds: type (single, double, triple, aromatic, other), stereo (none, Z, E, cis, trans, any), conjugated.
inline const std::vector<int64_t> bond_vocabulary = {5, 6, 2};

struct Molecule {
  std::vector<uint8_t> atoms;           // [atoms, 9]
  std::vector<int32_t> source, target;  // [edges], the two directions of a bond adjacent
  std::vector<uint8_t> bonds;           // [edges, 3]

  int64_t atom_count() const { return static_cast<int64_t>(atoms.size() / atom_vocabulary.size()); }
};

// The largest molecule that molecule_from_smiles takes: the time of RDKit grows with the cube of the number of atoms.
inline constexpr int64_t max_smiles_atoms = 4000;

// Returns the number of atoms that a SMILES writes: brackets, and the symbols outside of them.
int64_t written_atoms(std::string_view smiles);

// Returns why a SMILES is no molecule; empty if it is one. Throws std::runtime_error in a build without RDKit.
std::string smiles_error(const std::string& smiles);

// Returns e.g. "RDKit 2022.09.3", or an empty string in a build without RDKit.
std::string molecule_library();

// Throws the std::runtime_error of a build without RDKit, which names the packages to install.
[[noreturn]] void throw_without_rdkit();

// The category of a chiral atom says whether its neighbours, in some order, are clockwise. Written: in the order of the
// SMILES, as OGB. Canonical: by RDKit's canonical ranks, so that it does not depend on the spelling, but for rare
// molecules whose chiral atoms depend on each other.
enum class ChiralTags { written, canonical };

// Returns the heavy atoms of a SMILES in its order and the bonds in RDKit's order. Rare features depend on the version
// of RDKit: 2022.09 of Debian 12 counts a radical electron at the copper of [Cu]C, smiles2graph with 2026.9 does not.
// Thread-safe. Throws std::invalid_argument, with the reason, for an invalid SMILES, one without atoms or with more
// than max_smiles_atoms, std::runtime_error in a build without RDKit.
Molecule molecule_from_smiles(const std::string& smiles, ChiralTags tags = ChiralTags::canonical);

}  // namespace geosft
