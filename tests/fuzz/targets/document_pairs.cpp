// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration document_pairs({"document_pairs",
                                   of_folder({"aan.train.tsv", "aan.test.tsv", "aan.eval.tsv"},
                                             [](const auto& folder) { read_document_pairs(folder); }),
                                   [] {
                                     return Inputs{joined({"1.0\t3\t4\tone text\tanother\n0.0\t3\t5\tone text\tx\n",
                                                           "1.0\t1\t2\ta\tb\n", "0.0\t1\t2\tc\td\n"})};
                                   }});

}  // namespace
}  // namespace geosft::fuzz
