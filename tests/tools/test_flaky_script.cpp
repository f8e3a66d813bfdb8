// SPDX-License-Identifier: Apache-2.0
// Runs tools/flaky.sh around a program that stands in for the tests: which rounds are run, and what is said of
// failures.
#include <c10/util/StringUtil.h>

#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/places.h"
#include "tests/tools/experiment/command_line.h"

namespace geosft::test::test_flaky_script {
namespace fs = std::filesystem;

namespace {

// Fails in round 3, as Catch2 says it.
constexpr const char* program = R"(#!/bin/bash
echo "seeds $GEOSFT_TEST_SEED and $GEOSFT_GENERATOR_SEED, threads $OMP_NUM_THREADS, $*" >>"${0%/*}/../calls"
((GEOSFT_TEST_SEED == 3)) || exit 0
rule=$(printf -- '-%.0s' {1..79})
printf '%s\na case that fails\n%s\nfile.cpp:1: FAILED:\n' "$rule" "$rule"
exit 1
)";

// Holds what the script takes from setup.sh.
constexpr const char* setup = R"(geosft_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
geosft_preset=release
geosft_say() { echo "$*" >&2; }
geosft_die() { echo "flaky.sh: $*" >&2; exit 1; }
geosft_misuse() { echo "flaky.sh: $*" >&2; exit 2; }
geosft_option() { geosft_misuse "unknown option '$1'"; }
)";

class Rounds {
 public:
  Rounds() {
    fs::create_directories(folder_ / "tools");
    fs::copy(source_path("tools/flaky.sh"), folder_ / "tools/flaky.sh");
    write_text(folder_ / "tools/setup.sh", setup);
    write_text(folder_ / "build/release/bin/test_stand_in", program);
    fs::permissions(folder_ / "build/release/bin/test_stand_in", fs::perms::owner_all);
  }
  ProcessResult operator()(const Words& words) const {
    return run_process("/bin/bash", Words{(folder_ / "tools/flaky.sh").string()} + words);
  }
  Words calls() const { return lines_of(read_text(folder_ / "build/release/calls")); }
  bool has_log(int round) const {
    return fs::exists(folder_ / ("build/release/flaky/test_stand_in." + std::to_string(round) + ".log"));
  }

 private:
  TemporaryFolder folder_;
};

std::string call(int round) {
  return c10::str("seeds ", round, " and ", round, ", threads ", 2 - round % 2, ", --order rand --rng-seed ", round);
}

}  // namespace

TEST_CASE("rounds run in several sittings are those of one") {
  const Rounds rounds;
  const ProcessResult first = rounds({"--rounds", "2"}), second = rounds({"--from", "4", "--rounds", "2"});
  CHECK(first.exit == 0);
  CHECK_THAT(first.out, Catch::Contains("no failure in rounds 1 to 2 of 1 programs"));
  CHECK(second.exit == 0);
  CHECK_THAT(second.out, Catch::Contains("no failure in rounds 4 to 5 of 1 programs"));
  CHECK_THAT(second.err, Catch::Contains("round 4 of 4 to 5: 0 failed runs so far"));
  CHECK(rounds.calls() == Words{call(1), call(2), call(4), call(5)});
}

TEST_CASE("a round that fails is named with its case and how to repeat it") {
  const Rounds rounds;
  const ProcessResult result = rounds({"--from", "3", "--rounds", "1", "--keep-free", "test_stand_in"});
  CHECK(result.exit == 1);
  CHECK_THAT(
      result.out,
      Catch::Contains("GEOSFT_TEST_SEED=3 GEOSFT_GENERATOR_SEED=3 OMP_NUM_THREADS=1 test_stand_in --order rand") &&
          Catch::Contains("a case that fails"));
  CHECK(rounds.has_log(3));
}

TEST_CASE("wrong use of flaky.sh is refused before a round") {
  const Rounds rounds;
  for (const char* option : {"--from", "--rounds"}) {
    for (const char* value : {"0", "-1", "x", "1.5", ""}) {
      const ProcessResult result = rounds({option, value});
      CHECK(result.exit == 2);
      CHECK_THAT(result.err, Catch::Contains(c10::str(option, ": '", value, "' is not a number of 1 or more")));
    }
  }
  CHECK(rounds({"test_of_nothing"}).exit == 2);
  CHECK_FALSE(rounds.has_log(1));
}

}  // namespace geosft::test::test_flaky_script
