// SPDX-License-Identifier: Apache-2.0
#include "data/formats/xyz_molecule.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration xyz_molecule(
    {"xyz_molecule", [](const std::string& input) { covalent_bonds(read_xyz_molecule(input, "input"), "input"); },
     [] {
       return Inputs{"3\nwater\nO 0 0 0.1\nH 0.75 0 -0.47\nH -0.75 0 -0.47\n",
                     "2\ngdb 1 2\nC 0 0 1.2*^-6 -0.5\n6 0 0 1.4 0.5\n12 13\nCC\nInChI\n"};
     }});

}  // namespace
}  // namespace geosft::fuzz
