// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/bench_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "models/ops/cpu/simd.h"
#include "tools/experiment/arguments.h"

namespace geosft::bench {
namespace {

constexpr int64_t max_count = int64_t{1} << 30;

}  // namespace

void MachineOptions::add_to(CLI::App& subcommand) {
  runtime.device = "cpu";
  runtime.add_to(subcommand);
  subcommand.add_option("--simd", simd, "vector target of our kernels, such as AVX2; without it: the best one");
}

void MachineOptions::apply() const {
  if (!runtime.apply().is_cpu()) throw UsageError("--device: the benchmark measures the CPU; see tools/gpu_check.sh");
  const std::vector<std::string> known = simd_target_names();
  if (!simd.empty() && std::find(known.begin(), known.end(), simd) == known.end()) {
    std::string names;
    for (const std::string& name : known) names += " " + name;
    throw UsageError("--simd " + simd + ": this processor has" + names);
  }
  force_simd_target(simd);
}

void add_sizes(CLI::App& subcommand, Sizes& sizes) {
  const auto add = [&](const char* name, int64_t& target, const char* help) {
    subcommand.add_option(name, target, help)->check(CLI::Range(int64_t{1}, max_count))->capture_default_str();
  };
  add("--batch", sizes.batch, "items");
  add("--tokens", sizes.tokens, "tokens of an item");
  add("--width", sizes.width, "width of a token");
  add("--heads", sizes.heads, "heads");
  subcommand.add_option("--keys", sizes.keys, "sampled tokens of an item, one or more numbers")
      ->check(CLI::Range(int64_t{1}, max_count))
      ->delimiter(',')
      ->capture_default_str();
  subcommand.add_option("--seed", sizes.seed, "seed of the random inputs")->capture_default_str();
}

void check_sizes(const Sizes& sizes) {
  if (sizes.width % sizes.heads != 0) {
    throw UsageError("--heads must divide --width " + std::to_string(sizes.width) + ", got " +
                     std::to_string(sizes.heads));
  }
}

void TimedSizes::add_to(CLI::App& subcommand, const std::string& prints) {
  add_sizes(subcommand, sizes);
  subcommand.add_option("--repeats", timing.repeats, "minimum number of timed calls")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  subcommand.add_option("--seconds", timing.seconds, "minimum total time of the calls of each implementation")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  subcommand.add_flag("--json", json, "print " + prints);
  machine.add_to(subcommand);
}

void TimedSizes::apply() const {
  check_sizes(sizes);
  machine.apply();
}

}  // namespace geosft::bench
