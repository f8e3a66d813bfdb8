// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration tu({"tu",
                       of_folder({"A_A.txt", "A_graph_indicator.txt", "A_graph_labels.txt", "A_node_labels.txt",
                                  "A_edge_labels.txt", "A_node_attributes.txt", "A_edge_attributes.txt",
                                  "A_graph_attributes.txt"},
                                 [](const auto& folder) { open_graph_dataset(folder); }),
                       [] {
                         return Inputs{joined({"1, 2\n2, 1\n3, 4\n4, 3\n", "1\n1\n2\n2\n", "1\n-1\n", "0\n1\n1\n5\n",
                                               "1\n1\n2\n2\n", "0.5, 1\n2, 3\n4, 5\n6, 7\n", "1\n2\n3\n4.5\n"}),
                                       joined({"1 2\n", "1\n1\n", "3\n"})};
                       }});

}  // namespace
}  // namespace geosft::fuzz
