// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/bench_options.h"

#include <ATen/Parallel.h>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <iostream>

#include "models/ops/cpu/simd.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"

namespace geosft::bench::test::test_bench_options {
namespace {

struct Parsed {
  explicit Parsed(std::vector<const char*> words) {
    CLI::App app("tool");
    machine.add_to(app);
    add_sizes(app, sizes);
    words.insert(words.begin(), "tool");
    parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
  }
  MachineOptions machine;
  Sizes sizes;
};

// Threads and vector target as they were before.
struct Restore {
  ~Restore() {
    at::set_num_threads(threads);
    force_simd_target("");
  }
  int threads = at::get_num_threads();
};

}  // namespace

TEST_CASE("one thread and the best vector target unless told otherwise", "[bench]") {
  const Restore restore;
  const Parsed parsed({});
  CHECK(parsed.machine.runtime.threads == 1);
  parsed.machine.apply();
  CHECK(at::get_num_threads() == 1);
  CHECK(simd_target_name() == simd_target_names().front());
}

TEST_CASE("a vector target is forced, an unknown one refused with those there are", "[bench]") {
  const Restore restore;
  const std::string last = simd_target_names().back();
  Parsed({"--simd", last.c_str()}).machine.apply();
  CHECK(simd_target_name() == last);
  CHECK_THROWS_AS(Parsed({"--simd", "abacus"}).machine.apply(), UsageError);
  geosft::test::require_error([] { Parsed({"--simd", "abacus"}).machine.apply(); }, {"abacus", last});
}

TEST_CASE("sizes come from the command line", "[bench]") {
  const Sizes sizes = Parsed({"--batch", "2", "--tokens", "7", "--width", "8", "--heads", "4", "--keys", "3,5"}).sizes;
  CHECK(sizes.batch == 2);
  CHECK(sizes.tokens == 7);
  CHECK(sizes.channels() == 2);
  CHECK(sizes.keys == std::vector<int64_t>{3, 5});
  CHECK(Parsed({}).sizes.keys == std::vector<int64_t>{256, 32});
  CHECK_THROWS_AS(Parsed({"--tokens", "0"}), UsageError);
  CHECK_THROWS_AS(Parsed({"--keys", "many"}), UsageError);
}

TEST_CASE("heads must divide the width", "[bench]") {
  check_sizes({.width = 12, .heads = 3});
  geosft::test::require_error([] { check_sizes({.width = 12, .heads = 5}); }, {"--heads", "12", "5"});
}

}  // namespace geosft::bench::test::test_bench_options
