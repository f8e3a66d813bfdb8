// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_files.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration matrix_market(
    {"matrix_market", of_file("a.mtx", [](const auto& file) { read_matrix_market(file); }), [] {
       return Inputs{"%%MatrixMarket matrix coordinate real general\n% x\n3 3 2\n1 2 0.5\n3 1 1.0D+00\n",
                     "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
                     "%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1 4\n"};
     }});

}  // namespace
}  // namespace geosft::fuzz
