// SPDX-License-Identifier: Apache-2.0
// Molecules with coordinates, as XYZ texts and in the form of QM7.
#pragma once

#include <ATen/ATen.h>

#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "tests/data/files.h"

namespace geosft::test {

struct PlacedMolecule {
  std::vector<std::string> elements;
  at::Tensor places;  // [atoms, 3], double, in ångström
  double energy = 0.0;
};

inline std::string xyz_text(const PlacedMolecule& molecule, const std::string& comment) {
  std::ostringstream text;
  text << molecule.elements.size() << '\n' << comment << '\n' << std::setprecision(12);
  for (size_t atom = 0; atom < molecule.elements.size(); ++atom) {
    text << molecule.elements[atom];
    for (int64_t axis = 0; axis < 3; ++axis) {
      text << ' ' << molecule.places[static_cast<int64_t>(atom)][axis].item<double>();
    }
    text << '\n';
  }
  return text.str();
}

inline void write_qm7(const std::filesystem::path& folder, const std::vector<PlacedMolecule>& molecules) {
  std::string table;
  for (size_t number = 1; number <= molecules.size(); ++number) {
    const PlacedMolecule& molecule = molecules[number - 1];
    std::ostringstream name;
    name << std::setw(4) << std::setfill('0') << number << ".xyz";
    write_text(folder / "xyz" / name.str(), xyz_text(molecule, ""));
    table += name.str() + " " + std::to_string(molecule.energy) + "\n";
  }
  write_text(folder / "hof_qm7.txt", table);
}

}  // namespace geosft::test
