// SPDX-License-Identifier: Apache-2.0
// Options that the subcommands of geosft-bench share.
#pragma once

#include <string>

#include "tools/bench/benchmark.h"
#include "tools/experiment/subcommand.h"

namespace CLI {
class App;
}

namespace geosft::bench {

// Threads (one unless asked for more, since figures are compared by core) and the vector target of our kernels.
struct MachineOptions {
  RuntimeOptions runtime = {.threads = 1};
  std::string simd;  // empty: the best one

  void add_to(CLI::App& subcommand);
  // Throws UsageError for a vector target that is not there, naming those that are.
  void apply() const;
};

// --batch, --tokens, --width, --heads, --keys, --seed.
void add_sizes(CLI::App& subcommand, Sizes& sizes);
// Throws UsageError where heads do not divide the width.
void check_sizes(const Sizes& sizes);

}  // namespace geosft::bench
