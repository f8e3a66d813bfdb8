// SPDX-License-Identifier: Apache-2.0
// Molecules in XYZ files: elements and coordinates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

struct XyzMolecule {
  std::string comment;            // the second line
  std::vector<int64_t> elements;  // atomic numbers
  std::vector<float> positions;   // [atoms, 3] in the file's unit, by convention ångström
};

// The number of atoms, a comment, then a line "element x y z" for every atom; columns behind these are passed over.
// Numbers may be written 1.2*^-5, as in QM9; lines behind the atoms are passed over in its files alone (comments that
// begin with "gdb"). Throws DataError, with the line, on anything else, and when there is no atom.
XyzMolecule read_xyz_molecule(std::string_view text, const std::string& file);

// A bond where the distance is at most the sum of the covalent radii and 0.3 Å. XYZ files hold no bonds; this margin
// gives all 7,101 molecules of QM7 in one piece and every H, C, N, O and S a number of neighbours that it can have
// (with 0.4 Å two carbons of QM7 have five).
struct CovalentBonds {
  std::vector<int64_t> source, target;  // the two directions of a bond one after the other
  std::vector<float> stretch;           // length over the sum of the radii, for each direction
};

// Work grows with the square of the atoms. Throws DataError, naming `file`, for elements without a known radius.
CovalentBonds covalent_bonds(const XyzMolecule& molecule, const std::string& file);

}  // namespace geosft
