// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration qm9(
    {"qm9",
     of_folder({"dsgdb9nsd_000001.xyz", "dsgdb9nsd_000002.xyz"},
               [](const auto& folder) { read_xyz_molecules(folder); }),
     [] {
       return Inputs{
           joined({"2\ngdb 1\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\nC 0 0 1.2*^-6 -0.5\nH 0 0 1.1 0.5\n12\nC\n",
                   "1\ngdb 2 1 2 3 4 5 6 7 8 9 10 11 12 13 14 -15.5\nN 0 0 0 0\n"})};
     }});

}  // namespace
}  // namespace geosft::fuzz
