// SPDX-License-Identifier: Apache-2.0
// Describes the machine and the software of a measurement, and measures the peak rates of the machine.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace geosft::bench {

// Peak rates of the two inner loops of attention, with all operands in registers and the L1 cache: the upper bound for
// a kernel.
struct TileRates {
  double max_add = 0;       // elements per second of sum += max(a, b), float32
  double multiply_add = 0;  // elements per second of sum += a * b, float32
};

// Measures register tiles of rows x vectors accumulators with a packed vector and a broadcast scalar as operands, as in
// the attention kernels and with their vector target. Returns the total rate of `threads` threads of ATen's pool for
// the best of several tile shapes. `seconds` is the duration of the measurement.
TileRates measure_tile_rates(int64_t threads, double seconds = 0.5);

// For tests: returns the mean of the sums of a 4 x 4 tile after one pass over operands that are both t % 7 at depth t <
// 64.
double tile_mean(bool use_max);

// Returns the copy bandwidth in bytes per second, reads plus writes, of `bytes` (larger than any cache) with `threads`
// threads: the best of several tries.
double measure_bandwidth(int64_t threads, int64_t bytes = int64_t{256} << 20);

struct Machine {
  std::string processor;             // "AMD EPYC 9654 96-Core Processor"
  std::string simd_target;           // used by the kernels
  std::vector<std::string> targets;  // compiled and supported by the processor, best first
  std::string allocator;             // "glibc", "tcmalloc", "mimalloc", "jemalloc"
  int64_t threads = 1;
  TileRates rates;       // of all threads together
  double bandwidth = 0;  // of copying, bytes per second, reads plus writes
  std::string versions;  // version_text(), in one line
};

// Measures with the current vector target and number of threads.
Machine measure_machine();

nlohmann::json machine_json(const Machine& machine);
// Throws nlohmann::json::exception if a key is missing.
Machine machine_from_json(const nlohmann::json& json);
std::string machine_text(const Machine& machine);

// Returns the "model name" of /proc/cpuinfo, or "unknown".
std::string processor_name(std::istream& cpuinfo);

}  // namespace geosft::bench
