// SPDX-License-Identifier: Apache-2.0
// Describes the machine and the software of a measurement.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/bench/tile_rate.h"

namespace geosft::bench {

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
