// SPDX-License-Identifier: Apache-2.0
// geosft-bench as a user runs it.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/places.h"
#include "tests/tools/experiment/subprocess.h"

namespace geosft::bench::test {

inline geosft::test::ProcessResult run_bench(const std::vector<std::string>& words) {
  return geosft::test::run_process(geosft::test::program_path("geosft-bench"), words);
}

inline geosft::test::ProcessResult run_bench_well(const std::vector<std::string>& words) {
  geosft::test::ProcessResult result = run_bench(words);
  INFO(result.err);
  REQUIRE(result.signal == 0);
  REQUIRE(result.exit == 0);
  return result;
}

// It fails as wrong use does: exit code 2, one line on stderr that holds all of `words`.
inline void require_wrong_use(const std::vector<std::string>& arguments, const std::vector<std::string>& words) {
  const geosft::test::ProcessResult result = run_bench(arguments);
  INFO(result.err);
  CHECK(result.exit == 2);
  CHECK(result.out.empty());
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  for (const std::string& word : words) CHECK_THAT(result.err, Catch::Contains(word));
}

// Options that make a measurement of one small thing short.
inline std::vector<std::string> tiny(std::vector<std::string> words) {
  for (const char* word : {"--tokens", "32", "--width", "8", "--heads", "2", "--batch", "1", "--keys", "4", "--repeats",
                           "1", "--seconds", "0"}) {
    words.emplace_back(word);
  }
  return words;
}

}  // namespace geosft::bench::test
