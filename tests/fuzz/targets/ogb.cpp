// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_ogb_folder(const std::string& input) {
  static const InputFolder folder({"raw/num-node-list.csv", "raw/num-edge-list.csv", "raw/edge.csv",
                                   "raw/graph-label.csv", "split/s/train.csv", "split/s/valid.csv", "split/s/test.csv",
                                   "raw/node-feat.csv", "raw/edge-feat.csv"});
  read_ogb_dataset(folder.fill(input), {});
}

const Registration ogb(
    {"ogb", read_ogb_folder, [] {
       return Inputs{joined({"2\n1\n", "1\n0\n", "0,1\n", "1\n0\n", "0\n", "1\n", "", "5,0\n1,1\n0,0\n", "0,1\n"}),
                     joined({"2\n1\n", "1\n0\n", "0,1\n", "1.5,nan\n-2,\n", "0\n", "", "1\n", "0.5,2\n1,1\n0,0\n"}),
                     joined({"1\n", "0\n", "", "\"3\"\n", "0\n", "", ""})};
     }});

}  // namespace
}  // namespace geosft::fuzz
