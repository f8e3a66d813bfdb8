// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

Inputs checkpoint_seeds() {
  return {bytes_of_file([](const auto& file) {
    save_checkpoint(file, {{{"a", at::ones({2, 3})}, {"b c", at::arange(3)}}, {{"config", "x = 1\n"}}});
  })};
}

const Registration checkpoint({"checkpoint", of_file("a.ckpt", [](const auto& file) { load_checkpoint(file); }),
                               checkpoint_seeds});

}  // namespace
}  // namespace geosft::fuzz
