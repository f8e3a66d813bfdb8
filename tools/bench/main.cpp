// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "tools/bench/commands.h"
#include "tools/experiment/main_guard.h"

namespace {

const std::vector<geosft::Subcommand> subcommands = {
    {"run", "measure operators, layers and training steps beside LibTorch's", geosft::bench::add_run_command},
    {"ladder", "the steps that led to the attention kernel, checked and timed", geosft::bench::add_ladder_command},
#if GEOSFT_HAS_LIBSVM
    {"frame", "solve the dual of the primal-dual attentions, and compare its regressor with them",
     geosft::bench::add_frame_command},
#endif
    {"errors", "how far polynomial attention is from softmax, in output and gradients",
     geosft::bench::add_errors_command},
    {"almost-linear", "time and errors of polynomial attention where n grows, d as log n and the tolerance is 1/n",
     geosft::bench::add_almost_linear_command},
    {"follow", "train with polynomial and with exact attention, and compare the losses",
     geosft::bench::add_follow_command},
    {"parts", "operations and time of a layer's forward pass, by submodule", geosft::bench::add_parts_command},
    {"machine", "what this processor can do, and which vector instructions run", geosft::bench::add_machine_command},
};

int bench(int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (words.size() > 1 && std::string_view(words[1]) == "--machine") words[1] = "machine";
  return geosft::run_subcommands("Measurements of geosft beside LibTorch, in one process", subcommands, argc,
                                 words.data(), "geosft-bench --machine is short for geosft-bench machine.");
}

}  // namespace

int main(int argc, char** argv) {
  geosft::end_process(geosft::run_tool("geosft-bench", [&] { return bench(argc, argv); }));
}
