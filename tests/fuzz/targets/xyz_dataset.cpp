// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration xyz_dataset(
    {"xyz_dataset", of_file("mine.xyz", [](const auto& file) { read_xyz_dataset(file); }), [] {
       return Inputs{"1\nenergy=-1.5 split=train\nO 0 0 0\n1\nsplit=test energy=-3\nH 0 0 0\n1\nenergy=-4.5\nN 0 0 0\n",
                     "2\n\"gap of it\"=1 m=[[1, 0], [0, 1]]\nC 0 0 0\nO 0 0 1.2\n1\n\"gap of it\"=0\nC 0 0 0\n"};
     }});

}  // namespace
}  // namespace geosft::fuzz
