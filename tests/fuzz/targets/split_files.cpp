// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_split_files_folder(const std::string& input) {
  static const InputFolder folder({"train", "valid", "test"});
  folder.fill(input);
  read_split({folder / "train", folder / "valid", folder / "test"}, 5);
}

const Registration split_files({"split_files", read_split_files_folder, [] {
                                  return Inputs{joined({"0\n1\n", "2\n", "3\n4\n"})};
                                }});

}  // namespace
}  // namespace geosft::fuzz
