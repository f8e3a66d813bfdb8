// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "data/graphs/packed_graphs_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

PackedItems two_graphs() {
  static const InputFolder folder(
      {"A_A.txt", "A_graph_indicator.txt", "A_graph_labels.txt", "A_node_labels.txt", "A_node_attributes.txt"});
  PackedItems packed = open_graph_dataset(
      folder.fill(joined({"1,2\n2,1\n3,4\n4,3\n", "1\n1\n2\n2\n", "1\n-1\n", "0\n1\n1\n5\n", "0.5\n2\n4\n6\n"})));
  packed.split = DatasetSplit{{0}, {}, {1}};
  return packed;
}

void read_packed(const std::string& input) {
  static const InputFolder folder({});
  test::write_text(folder / "graphs.h5", input);
  read_packed_graphs(folder / "graphs.h5");
}

const Registration packed_graphs_file({"packed_graphs", read_packed, [] {
                                         return Inputs{bytes_of_file(
                                             [](const auto& file) { write_packed_graphs(file, two_graphs()); })};
                                       }});

}  // namespace
}  // namespace geosft::fuzz
