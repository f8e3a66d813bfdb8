// SPDX-License-Identifier: Apache-2.0
// Reads molecules (elements and coordinates) from XYZ files and infers their bonds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

struct XyzMolecule {
  std::string comment;            // the second line
  std::vector<int64_t> elements;  // atomic numbers
  std::vector<float> positions;   // [atoms, 3] in the unit of the file, by convention ångström
};

// Reads a molecule. Format: the number of atoms, a comment, then a line "element x y z" per atom; further columns are
// ignored. Numbers may be written 1.2*^-5, as in QM9. Lines after the atoms are ignored in QM9 files only (comments
// that begin with "gdb"). Throws DataError, with the line, for anything else and for a molecule without atoms.
XyzMolecule read_xyz_molecule(std::string_view text, const std::string& file);

// Bonds inferred from distances: at most the sum of the covalent radii plus 0.3 Å. XYZ files hold no bonds. With this
// margin all 7,101 molecules of QM7 are connected and every H, C, N, O and S has a valid number of neighbours (with 0.4
// Å two carbons of QM7 have five).
struct CovalentBonds {
  std::vector<int64_t> source, target;  // the two directions of a bond adjacent
  std::vector<float> stretch;           // length divided by the sum of the radii, per direction
};

// Takes quadratic time in the number of atoms. Throws DataError, naming `file`, for elements without a known radius.
CovalentBonds covalent_bonds(const XyzMolecule& molecule, const std::string& file);

}  // namespace geosft
