// SPDX-License-Identifier: Apache-2.0
// Reads molecules (elements and coordinates) from XYZ files and infers their bonds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace geosft {

struct XyzMolecule {
  std::string comment;            // the second line
  std::vector<int64_t> elements;  // atomic numbers
  std::vector<float> positions;   // [atoms, 3] in the unit of the file, by convention ångström
  int64_t line = 0;               // of its number of atoms in the file, counted from 1
};

// Reads the molecules of a file, one or several. Format of each: the number of atoms, a comment, then a line "element x
// y z" per atom; further columns are ignored. The comment of extended XYZ may say which columns these are, by
// Properties=species:S:1:pos:R:3 (or Z:I:1 in place of species) among others in any order. Numbers may be written
// 1.2*^-5, as in QM9. Lines after the atoms are ignored in QM9 files only, which have one molecule (and a comment that
// begins with "gdb"). Throws DataError, with the line, for anything else and for a molecule without atoms.
std::vector<XyzMolecule> read_xyz_frames(std::string_view text, const std::string& file);

// Does the same for a file of one molecule. Throws DataError for one of several.
XyzMolecule read_xyz_molecule(std::string_view text, const std::string& file);

// Returns the pairs KEY=VALUE of a comment in their order. Keys and values may be between quotes, and have blanks then.
// In values, blanks between brackets separate nothing, and there may be blanks round the "=". A comma after a value is
// left out, as in "i = 1, E = -17.2" of CP2K. Other words are ignored, and a quote that is not closed ends with the
// comment.
std::vector<std::pair<std::string, std::string>> xyz_comment_pairs(std::string_view comment);

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
