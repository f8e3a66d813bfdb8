// SPDX-License-Identifier: Apache-2.0
#include "data/formats/xyz_molecule.h"

#include <cmath>

#include "data/data_error.h"
#include "data/formats/elements.h"
#include "data/formats/text_lines.h"

namespace geosft {
namespace {

float read_coordinate(TextLines& lines) {
  std::string word(lines.word());
  if (const size_t power = word.find("*^"); power != std::string::npos) word.replace(power, 2, "e");
  const auto value = static_cast<float>(lines.to_number(word, "a coordinate"));
  if (!std::isfinite(value)) lines.fail_word("a coordinate in the range of float32", word);
  return value;
}

}  // namespace

XyzMolecule read_xyz_molecule(std::string_view text, const std::string& file) {
  TextLines lines(text, file);
  XyzMolecule molecule;
  lines.next_raw();
  const int64_t count = lines.integer("the number of atoms");
  lines.end_of_line("the number of atoms");
  if (count < 1) lines.fail("at least one atom", std::to_string(count));
  lines.next_raw();
  molecule.comment = lines.rest();
  for (int64_t i = 0; i < count; ++i) {
    if (!lines.next()) throw DataError(file, std::to_string(count) + " atoms", std::to_string(i));
    const std::string_view symbol = lines.word();
    const std::optional<int> element = atomic_number(symbol);
    if (!element) lines.fail_word("the symbol of an element", symbol);
    molecule.elements.push_back(*element);
    for (int axis = 0; axis < 3; ++axis) molecule.positions.push_back(read_coordinate(lines));
  }
  if (!molecule.comment.starts_with("gdb") && lines.next()) {
    lines.fail("the end of the file after " + std::to_string(count) + " atoms", "another line");
  }
  return molecule;
}

CovalentBonds covalent_bonds(const XyzMolecule& molecule, const std::string& file) {
  constexpr double margin = 0.3;
  // Limits far above any molecule: all pairs of atoms are tested, and coincident atoms are all bonded.
  constexpr size_t max_atoms = 1 << 14, max_bonds = 64;
  const size_t atoms = molecule.elements.size();
  if (atoms > max_atoms) {
    throw DataError(file, "at most " + std::to_string(max_atoms) + " atoms", std::to_string(atoms));
  }
  std::vector<double> radius(atoms);
  for (size_t i = 0; i < atoms; ++i) {
    const std::optional<double> known = covalent_radius(static_cast<int>(molecule.elements[i]));
    if (!known) {
      throw DataError(file, "elements up to 96, whose radius is known", std::to_string(molecule.elements[i]));
    }
    radius[i] = *known;
  }
  CovalentBonds bonds;
  const float* x = molecule.positions.data();
  for (size_t i = 0; i < atoms; ++i) {
    for (size_t j = i + 1; j < atoms; ++j) {
      const double sum = radius[i] + radius[j],
                   length = std::hypot(double{x[3 * i]} - x[3 * j], double{x[3 * i + 1]} - x[3 * j + 1],
                                       double{x[3 * i + 2]} - x[3 * j + 2]);
      if (length > sum + margin) continue;
      bonds.source.insert(bonds.source.end(), {static_cast<int64_t>(i), static_cast<int64_t>(j)});
      bonds.target.insert(bonds.target.end(), {static_cast<int64_t>(j), static_cast<int64_t>(i)});
      bonds.stretch.insert(bonds.stretch.end(), 2, static_cast<float>(length / sum));
      if (bonds.source.size() > max_bonds * atoms) {
        throw DataError(file, "at most " + std::to_string(max_bonds / 2) + " bonds an atom", "more");
      }
    }
  }
  return bonds;
}

}  // namespace geosft
