// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration qm7(
    {"qm7",
     of_folder({"hof_qm7.txt", "xyz/1.xyz", "xyz/5.xyz"}, [](const auto& folder) { read_xyz_molecules(folder); }), [] {
       return Inputs{joined({"1.xyz -417.5 x\n5.xyz -20\n", "2\n\nC 0 0 0\nO 0 0 1.2\n", "1\nx\nN 0 0 0\n"})};
     }});

}  // namespace
}  // namespace geosft::fuzz
