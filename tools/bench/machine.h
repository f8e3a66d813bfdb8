// SPDX-License-Identifier: Apache-2.0
// Description of the machine and the software of a measurement.
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
  std::string simd_target;           // that the kernels run with
  std::vector<std::string> targets;  // compiled and supported by the processor, best first
  std::string allocator;             // "glibc", "tcmalloc", "mimalloc", "jemalloc"
  int64_t threads = 1;
  TileRates rates;       // of all threads together
  double bandwidth = 0;  // bytes a second of copying, read and written
  std::string versions;  // version_text(), in one line
};

// With the current vector target and number of threads.
Machine measure_machine();

nlohmann::json machine_json(const Machine& machine);
// Throws nlohmann::json::exception if a key is missing.
Machine machine_from_json(const nlohmann::json& json);
std::string machine_text(const Machine& machine);

// "model name" of /proc/cpuinfo, or "unknown".
std::string processor_name(std::istream& cpuinfo);

}  // namespace geosft::bench
