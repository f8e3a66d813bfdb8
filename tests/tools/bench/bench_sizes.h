// SPDX-License-Identifier: Apache-2.0
// What the tests of measurements share.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <catch2/catch.hpp>
#include <string>

#include "tools/bench/catalogue.h"
#include "tools/bench/measurement.h"

namespace geosft::bench::test {

// Small, with sizes that are no multiples of the kernels' tiles.
inline Sizes small_sizes() {
  return {.batch = 2, .tokens = 37, .width = 12, .heads = 3, .keys = {9, 5}, .seed = 1};
}

// Returns the generator that benchmarks of these sizes make. Unlike geosft::test::generator it follows nothing else.
inline at::Generator generator_of(const Sizes& sizes) {
  return at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
}

// Every benchmark of `entries` can be made, and those implementations that compute the same agree with ours much better
// than a measurement insists on.
inline void require_agreement(const Entries& entries, double tolerance = 1e-4) {
  REQUIRE_FALSE(entries.empty());
  for (const Entry& entry : entries) {
    INFO(entry.name);
    const Benchmark benchmark = entry.make();
    REQUIRE(benchmark.name == entry.name);
    REQUIRE_FALSE(benchmark.implementations.empty());
    REQUIRE(benchmark.implementations.front().name == "geosft");
    check_agreement(benchmark, tolerance);
  }
}

// How many implementations of a benchmark are compared with ours.
inline int compared(const Benchmark& benchmark) {
  int count = 0;
  for (const Implementation& implementation : benchmark.implementations) count += implementation.align ? 1 : 0;
  return count;
}

// A machine with round numbers.
inline Machine some_machine() {
  return {"Some Processor", "AVX2", {"AVX2", "SCALAR"}, "glibc", 1, {20e9, 40e9}, 10e9, "geosft 1, LibTorch 2"};
}

// A measurement of 2 ms beside a bound of 1 ms.
inline Measurement some_measurement(const std::string& benchmark, const std::string& implementation) {
  Measurement one{benchmark, implementation, {0.002, 0.0021, 0.0022, 0.0024, 0.0019, 7}};
  one.geosft_ratio = 0.5;
  one.geosft_cpu_ratio = 0.75;
  one.work = Work{10e6, 20e6, 4e6};
  one.bound = 0.001;
  one.peak_bytes = 3 << 20;
  one.result_bytes = 1 << 20;
  return one;
}

}  // namespace geosft::bench::test
