// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_formats.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// Files without an ending, whose format is told by the contents.
const Registration graph_formats(
    {"graph_formats", of_file("graph", [](const auto& file) { read_graph_file(file); }), [] {
       return Inputs{"\xEF\xBB\xBF%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1.0D+00\n",
                     "# source target\n0 1\n1 2\n", "0,1,0.5\n"};
     }});

}  // namespace
}  // namespace geosft::fuzz
