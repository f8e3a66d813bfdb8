// SPDX-License-Identifier: Apache-2.0
#include "data/formats/xyz_molecule.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration xyz_molecule(
    {"xyz_molecule",
     [](const std::string& input) {
       for (const XyzMolecule& molecule : read_xyz_frames(input, "input")) covalent_bonds(molecule, "input");
     },
     [] {
       return Inputs{"3\nwater\nO 0 0 0.1\nH 0.75 0 -0.47\nH -0.75 0 -0.47\n",
                     "1\nE=-1 Properties=tag:I:1:pos:R:3:Z:I:1 pbc=\"F F F\"\n3 0 0 0 8\n\n1\ni = 2, E = -3\nH 1 2 3\n",
                     "2\ngdb 1 2\nC 0 0 1.2*^-6 -0.5\n6 0 0 1.4 0.5\n12 13\nCC\nInChI\n"};
     }});

}  // namespace
}  // namespace geosft::fuzz
