// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint.h"
#include "tests/fuzz/checkpoint_frame.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_checkpoint_entries(const std::string& input) {
  static const InputFolder folder({});
  test::write_text(folder / "a.ckpt", framed(input));
  load_checkpoint(folder / "a.ckpt");
}

Inputs entry_seeds() {
  return {unframed(bytes_of_file([](const auto& file) {
    save_checkpoint(file, {{{"a", at::ones({2, 3})}, {"b c", at::zeros({0, 2})}, {"", at::ones({1, 1}, at::kBool)}},
                           {{"x", "xyz"}}});
  }))};
}

const Registration checkpoint_entries({"checkpoint_entries", read_checkpoint_entries, entry_seeds});

}  // namespace
}  // namespace geosft::fuzz
