// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/listops.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration listops({"listops",
                            of_folder({"basic_train.tsv", "basic_val.tsv", "basic_test.tsv"},
                                      [](const auto& folder) { read_listops(folder); }),
                            [] {
                              return Inputs{
                                  joined({"Source\tTarget\n( ( ( [MAX 2 ) 9 ) ] )\t9\n[MED 1 [SM 8 5 ] 7 ]\t3\n",
                                          "Source\tTarget\n[MIN 3 4 ]\t3\n", "Source\tTarget\n7\t7\n"})};
                            }});

}  // namespace
}  // namespace geosft::fuzz
