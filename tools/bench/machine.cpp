// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/machine.h"

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <vector>

#include "data/read_file.h"
#include "models/ops/cpu/simd.h"
#include "tools/experiment/run_folder.h"

namespace geosft::bench {
namespace {

// Identifies the allocator by a function that only it exports.
std::string allocator_name() {
  for (const auto& [symbol, name] :
       {std::pair("tc_version", "tcmalloc"), std::pair("mi_version", "mimalloc"), std::pair("mallctl", "jemalloc")}) {
    if (dlsym(RTLD_DEFAULT, symbol) != nullptr) return name;
  }
  return "glibc";
}

std::string in_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, ", ");
  return text;
}

}  // namespace

std::string processor_name(std::istream& cpuinfo) {
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(':');
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return std::string(trimmed(std::string_view(line).substr(colon + 1)));
    }
  }
  return "unknown";
}

Machine measure_machine() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  const int64_t threads = at::get_num_threads();
  return {
      processor_name(cpuinfo),     simd_target_name(),         simd_target_names(),        allocator_name(), threads,
      measure_tile_rates(threads), measure_bandwidth(threads), in_one_line(version_text())};
}

nlohmann::json machine_json(const Machine& machine) {
  return {{"processor", machine.processor},
          {"simd_target", machine.simd_target},
          {"targets", machine.targets},
          {"allocator", machine.allocator},
          {"threads", machine.threads},
          {"max_add_per_second", machine.rates.max_add},
          {"multiply_add_per_second", machine.rates.multiply_add},
          {"bytes_per_second", machine.bandwidth},
          {"versions", machine.versions}};
}

Machine machine_from_json(const nlohmann::json& json) {
  return {json.at("processor"),        json.at("simd_target"),
          json.at("targets"),          json.at("allocator"),
          json.at("threads"),          {json.at("max_add_per_second"), json.at("multiply_add_per_second")},
          json.at("bytes_per_second"), json.at("versions")};
}

std::string machine_text(const Machine& machine) {
  std::ostringstream text;
  text << "processor       " << machine.processor << "\nvector target   " << machine.simd_target << " (of";
  for (const std::string& target : machine.targets) text << ' ' << target;
  text << ")\nthreads         " << machine.threads << "\nallocator       " << machine.allocator << '\n';
  text << std::fixed << std::setprecision(1);
  text << "max+add         " << machine.rates.max_add / 1e9 << " G elements/s in register tiles\n";
  text << "multiply-add    " << machine.rates.multiply_add / 1e9 << " G elements/s in register tiles\n";
  text << "memory          " << machine.bandwidth / 1e9 << " GB/s read and written by a copy\n";
  text << "versions        " << machine.versions << '\n';
  return text.str();
}

double measure_bandwidth(int64_t threads, int64_t bytes) {
  constexpr int64_t tries = 5;
  const std::vector<char> from(static_cast<size_t>(bytes), 1);
  std::vector<char> to(static_cast<size_t>(bytes), 0);
  double best = 0;
  for (int64_t i = 0; i < tries; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    at::parallel_for(0, bytes, (bytes + threads - 1) / threads, [&](int64_t first, int64_t last) {
      std::memcpy(to.data() + first, from.data() + first, static_cast<size_t>(last - first));
    });
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 2.0 * static_cast<double>(bytes) / spent.count());
  }
  return best;
}

}  // namespace geosft::bench
