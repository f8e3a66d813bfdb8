// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration byte_texts(
    {"byte_texts", of_folder({"imdb_train.tsv", "imdb_test.tsv"}, [](const auto& folder) { read_byte_texts(folder); }),
     [] {
       return Inputs{joined({"1\tid\ta good one\n0\tid\tbad\n", "0\tx\tso so \xff\n"})};
     }});

}  // namespace
}  // namespace geosft::fuzz
