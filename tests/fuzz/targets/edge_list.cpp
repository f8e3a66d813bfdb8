// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_files.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_edge_list_folder(const std::string& input) {
  static const InputFolder folder({"edges.txt"});
  folder.fill(input);
  read_edge_list(folder / "edges.txt", input.size() % 2 == 0);
}

const Registration edge_list({"edge_list", read_edge_list_folder, [] {
                                return Inputs{"# from to\n0 1\n1 2\n7,2\n", "% x\n5;6;0.5\n6;5;2\n"};
                              }});

}  // namespace
}  // namespace geosft::fuzz
