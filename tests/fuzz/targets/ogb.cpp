// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// Returns a reader of datasets of OGB whose labels are in this file.
std::function<void(const std::string&)> ogb_folder(const std::string& labels) {
  return of_folder({"raw/num-node-list.csv", "raw/num-edge-list.csv", "raw/edge.csv", labels, "split/s/train.csv",
                    "split/s/valid.csv", "split/s/test.csv", "raw/node-feat.csv", "raw/edge-feat.csv"},
                   [](const auto& folder) { read_ogb_dataset(folder, {}); });
}

const Registration ogb(
    {"ogb", ogb_folder("raw/graph-label.csv"), [] {
       return Inputs{joined({"2\n1\n", "1\n0\n", "0,1\n", "1\n0\n", "0\n", "1\n", "", "5,0\n1,1\n0,0\n", "0,1\n"}),
                     joined({"2\n1\n", "1\n0\n", "0,1\n", "1.5,nan\n-2,\n", "0\n", "", "1\n", "0.5,2\n1,1\n0,0\n"}),
                     joined({"1\n", "0\n", "", "\"3\"\n", "0\n", "", ""})};
     }});

const Registration ogb_nodes({"ogb_nodes", ogb_folder("raw/node-label.csv"), [] {
                                return Inputs{
                                    joined({"3\n", "2\n", "0,1\n1,2\n", "1\n0\nnan\n", "0\n", "1\n", "",
                                            "0.5,1\n1,1\n0,0\n"}),
                                    joined({"3\n", "2\n", "0,1\n1,2\n", "1\n0\nnan\n", "0\n", "1\n", ""}),
                                    joined({"3\n", "2\n", "0,1\n1,2\n", "1,0\n0,nan\n,1\n", "0\n", "1\n", "2\n"}),
                                    joined({"3\n", "2\n", "0,1\n1,2\n", "1,0\n0,0\n1,1\n", "0\n", "1\n", "2\n",
                                            "0\n1\n1\n", "0.5,1\n0.25,0\n"})};
                              }});

}  // namespace
}  // namespace geosft::fuzz
