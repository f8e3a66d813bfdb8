// SPDX-License-Identifier: Apache-2.0
// Defines options shared by the subcommands of geosft-bench.
#pragma once

#include <memory>
#include <string>

#include "tools/bench/benchmark.h"
#include "tools/bench/timing.h"
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

// The options of a subcommand that times something of these sizes.
struct TimedSizes {
  MachineOptions machine;
  Sizes sizes;
  TimingOptions timing;
  bool json = false;

  // `prints` says what --json prints, such as "one JSON object".
  void add_to(CLI::App& subcommand, const std::string& prints);
  // Checks the sizes and applies the options of the machine.
  void apply() const;
};

// Adds the options of a subcommand to it; Timed is derived from TimedSizes and has execute().
template <class Timed>
Command timed_command(CLI::App& subcommand, const std::string& prints) {
  auto command = std::make_shared<Timed>();
  command->add_to(subcommand, prints);
  return [command] { return command->execute(); };
}

}  // namespace geosft::bench
