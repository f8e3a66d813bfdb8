// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_text_folders_folder(const std::string& input) {
  static const InputFolder folder({"train/neg/1.txt", "train/pos/1.txt", "test/neg/1.txt"});
  read_byte_texts(folder.fill(input));
}

const Registration text_folders({"text_folders", read_text_folders_folder, [] {
                                   return Inputs{joined({"bad", "good", "so so\n"})};
                                 }});

}  // namespace
}  // namespace geosft::fuzz
