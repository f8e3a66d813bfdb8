// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/listops.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_listops_folder(const std::string& input) {
  static const InputFolder folder({"basic_train.tsv", "basic_val.tsv", "basic_test.tsv"});
  read_listops(folder.fill(input));
}

const Registration listops({"listops", read_listops_folder, [] {
                              return Inputs{
                                  joined({"Source\tTarget\n( ( ( [MAX 2 ) 9 ) ] )\t9\n[MED 1 [SM 8 5 ] 7 ]\t3\n",
                                          "Source\tTarget\n[MIN 3 4 ]\t3\n", "Source\tTarget\n7\t7\n"})};
                            }});

}  // namespace
}  // namespace geosft::fuzz
