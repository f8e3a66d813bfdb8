// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_byte_texts_folder(const std::string& input) {
  static const InputFolder folder({"imdb_train.tsv", "imdb_test.tsv"});
  read_byte_texts(folder.fill(input));
}

const Registration byte_texts({"byte_texts", read_byte_texts_folder, [] {
                                 return Inputs{joined({"1\tid\ta good one\n0\tid\tbad\n", "0\tx\tso so \xff\n"})};
                               }});

}  // namespace
}  // namespace geosft::fuzz
