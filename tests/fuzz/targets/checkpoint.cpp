// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_checkpoint(const std::string& input) {
  static const InputFolder folder({"a.ckpt"});
  folder.fill(input);
  load_checkpoint(folder / "a.ckpt");
}

Inputs checkpoint_seeds() {
  return {bytes_of_file([](const auto& file) {
    save_checkpoint(file, {{{"a", at::ones({2, 3})}, {"b c", at::arange(3)}}, {{"config", "x = 1\n"}}});
  })};
}

const Registration checkpoint({"checkpoint", read_checkpoint, checkpoint_seeds});

}  // namespace
}  // namespace geosft::fuzz
