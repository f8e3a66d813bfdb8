// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/machine.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

#include "models/ops/cpu/simd.h"
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_machine {

TEST_CASE("the processor's name comes from /proc/cpuinfo", "[bench]") {
  std::istringstream file("processor\t: 0\nmodel\t\t: 17\nmodel name\t: Fast Chip 9000 \nmodel name\t: Other\n");
  CHECK(processor_name(file) == "Fast Chip 9000");
  std::istringstream without("processor\t: 0\n");
  CHECK(processor_name(without) == "unknown");
}

TEST_CASE("a machine goes to JSON and back", "[bench]") {
  const nlohmann::json json = machine_json(some_machine());
  CHECK(machine_json(machine_from_json(json)) == json);
  CHECK(json["max_add_per_second"] == 20e9);
  CHECK_THROWS_AS(machine_from_json(nlohmann::json::object()), nlohmann::json::exception);
}

TEST_CASE("this machine is described", "[bench]") {
  const Machine machine = measure_machine();
  CHECK(machine.simd_target == simd_target_name());
  CHECK(machine.targets == simd_target_names());
  CHECK(machine.versions.find("LibTorch") != std::string::npos);
  CHECK(machine.versions.find('\n') == std::string::npos);
  const std::string text = machine_text(machine);
  for (const std::string& part : {machine.processor, machine.simd_target, machine.allocator}) {
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace geosft::bench::test::test_machine

namespace geosft::bench::test::test_bandwidth {

TEST_CASE("the bandwidth is a positive number for any number of threads", "[bench]") {
  for (const int64_t threads : {1, 2, 3}) {
    const double rate = measure_bandwidth(threads, 1000001);
    CHECK(rate > 0);
    CHECK(std::isfinite(rate));
  }
}

}  // namespace geosft::bench::test::test_bandwidth
