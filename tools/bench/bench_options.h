// SPDX-License-Identifier: Apache-2.0
// Defines options shared by the subcommands of geosft-bench.
#pragma once

#include <string>

#include "tools/bench/benchmark.h"
#include "tools/experiment/subcommand.h"

namespace CLI {
class App;
}

namespace geosft::bench {

// Number of threads (default 1, since figures are compared per core) and the vector target of our kernels.
struct MachineOptions {
  RuntimeOptions runtime = {.threads = 1};
  std::string simd;  // empty: the best one

  void add_to(CLI::App& subcommand);
  // Throws UsageError for an unavailable vector target, naming the available ones.
  void apply() const;
};

// Adds --batch, --tokens, --width, --heads, --keys, --seed.
void add_sizes(CLI::App& subcommand, Sizes& sizes);
// Throws UsageError if heads does not divide width.
void check_sizes(const Sizes& sizes);

}  // namespace geosft::bench
