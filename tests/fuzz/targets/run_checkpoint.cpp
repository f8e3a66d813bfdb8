// SPDX-License-Identifier: Apache-2.0
#include <torch/nn/modules/linear.h>

#include "tests/fuzz/checkpoint_frame.h"
#include "tests/fuzz/target.h"
#include "tools/experiment/run_checkpoint.h"

namespace geosft::fuzz {
namespace {

// Texts and weights of a run.
void read_run_checkpoint(const std::string& input) {
  static const InputFolder folder({});
  std::filesystem::path file = folder / "best.ckpt";
  test::write_text(file, framed(input));
  const Checkpoint checkpoint = load_run_checkpoint(file, file);
  run_names(checkpoint, "tool", file);
  check_same_outputs(checkpoint, run_texts("tool", "", {"a"}), file, "DATA");
  torch::nn::Linear model(2, 1);
  load_run_weights(*model, checkpoint, file);
}

Inputs run_seeds() {
  return {unframed(bytes_of_file([](const auto& file) {
    save_checkpoint(file, {{{"model.weight", at::ones({1, 2})}, {"model.bias", at::ones({1})}},
                           run_texts("tool", "x = 1\n", {"a"})});
  }))};
}

const Registration run_checkpoint({"run_checkpoint", read_run_checkpoint, run_seeds});

}  // namespace
}  // namespace geosft::fuzz
