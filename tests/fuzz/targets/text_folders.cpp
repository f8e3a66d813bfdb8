// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration text_folders({"text_folders",
                                 of_folder({"train/neg/1.txt", "train/pos/1.txt", "test/neg/1.txt"},
                                           [](const auto& folder) { read_byte_texts(folder); }),
                                 [] {
                                   return Inputs{joined({"bad", "good", "so so\n"})};
                                 }});

}  // namespace
}  // namespace geosft::fuzz
