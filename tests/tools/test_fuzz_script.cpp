// SPDX-License-Identifier: Apache-2.0
// tools/fuzz.sh around a program that stands in for the fuzzer: what is counted, and when a target has had enough.
#include <c10/util/StringUtil.h>

#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/places.h"
#include "tests/tools/experiment/command_line.h"

namespace geosft::test::test_fuzz_script {
namespace fs = std::filesystem;

namespace {

// Three targets. A turn has time for 400 executions, and `weak` finds something where the folder has a file `weak`.
constexpr const char* fuzzer = R"(#!/bin/bash
[[ -n ${GEOSFT_FUZZ_TARGET-} ]] || { printf 'other\nplain\nweak\n'; exit 0; }
for word; do
  case $word in -runs=*) runs=${word#*=} ;; -artifact_prefix=*) prefix=${word#*=} ;; esac
done
echo "$GEOSFT_FUZZ_TARGET $*" >>"${0%/*}/calls"
if [[ $GEOSFT_FUZZ_TARGET == weak && -e ${0%/*}/weak ]]; then
  echo x >"${prefix}crash-x"
  echo 'stat::number_of_executed_units: 7'
  exit 77
fi
((runs >= 0 && runs < 400)) || runs=400
echo "stat::number_of_executed_units: $runs"
)";

// What the script has of setup.sh; everything is there.
constexpr const char* setup = R"(geosft_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
geosft_die() { echo "fuzz.sh: $*" >&2; exit 1; }
geosft_misuse() { echo "fuzz.sh: $*" >&2; exit 2; }
geosft_install_packages() { :; }
geosft_setup() { :; }
geosft_build() { :; }
)";

class Fuzzing {
 public:
  Fuzzing() {
    fs::create_directories(folder_ / "tools/configs");
    fs::create_directories(folder_ / "tests/fixtures");
    fs::copy(source_path("tools/fuzz.sh"), folder_ / "tools/fuzz.sh");
    write_text(folder_ / "tools/setup.sh", setup);
    write_text(folder_ / "tools/packages_fuzz.txt", "# none\n");
    write_text(folder_ / "build/fuzz/bin/geosft_fuzz", fuzzer);
    fs::permissions(folder_ / "build/fuzz/bin/geosft_fuzz", fs::perms::owner_all);
  }
  fs::path operator/(const std::string& name) const { return folder_ / name; }
  ProcessResult operator()(const Words& words) const {
    const EnvironmentVariable data("GEOSFT_DATA", "");
    return run_process("/bin/bash", Words{(folder_ / "tools/fuzz.sh").string()} + words);
  }
  // The line of a target in the table, its columns apart by one blank.
  std::string row(const std::string& target) const {
    for (const std::string& line : lines_of((*this)({"--table"}).out)) {
      std::istringstream columns(line);
      std::string name, executions, since, seconds, findings;
      columns >> name >> executions >> since >> seconds >> findings;
      if (name == target) return c10::str(executions, " ", since, " ", findings);
    }
    return "none";
  }
  size_t turns_of(const std::string& target) const {
    return count_of("\n" + read_text(folder_ / "build/fuzz/bin/calls"), "\n" + target + " ");
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("every target is fuzzed once, and counted") {
  const Fuzzing fuzz;
  CHECK(fuzz.row("plain") == "none");
  const ProcessResult first = fuzz({});
  INFO(first.err);
  REQUIRE(first.exit == 0);
  CHECK(lines_of(first.out).size() == 3);
  CHECK_THAT(first.out, Catch::Contains("plain: 400 executions in") && Catch::Contains("0 findings"));
  CHECK_THAT(read_text(fuzz / "build/fuzz/bin/calls"), Catch::Contains("-max_total_time=60 -runs=-1"));
  REQUIRE(fuzz({"plain"}).exit == 0);
  CHECK(fuzz.row("plain") == "800 800 0");
  CHECK(fuzz.row("other") == "400 400 0");
  CHECK(fuzz({"nonsense"}).exit == 2);
}

TEST_CASE("a number of executions is reached in turns, and in several calls") {
  const Fuzzing fuzz;
  REQUIRE(fuzz({"plain"}).exit == 0);
  const ProcessResult result = fuzz({"--runs", "1000", "plain", "other"});
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK(fuzz.row("plain") == "1000 1000 0");
  CHECK(fuzz.row("other") == "1000 1000 0");
  CHECK(fuzz.row("weak") == "none");
  CHECK(fuzz.turns_of("plain") == 3);
  CHECK(fuzz.turns_of("other") == 3);
  CHECK_THAT(read_text(fuzz / "build/fuzz/bin/calls"), Catch::Contains("-max_total_time=600 -runs=200"));
  CHECK_THAT(result.out, Catch::Contains("since last"));
  REQUIRE(fuzz({"--runs", "1000", "plain", "other"}).exit == 0);
  CHECK(fuzz.turns_of("plain") == 3);
}

TEST_CASE("a finding ends the turns of its target, and its executions begin anew") {
  const Fuzzing fuzz;
  REQUIRE(fuzz({"weak"}).exit == 0);
  write_text(fuzz / "build/fuzz/bin/weak", "");
  const ProcessResult result = fuzz({"--runs", "600"});
  CHECK(result.exit == 1);
  CHECK_THAT(result.out,
             Catch::Contains("weak: 7 executions") && Catch::Contains("1 findings (see build/fuzz/weak.log)"));
  CHECK_THAT(result.err, Catch::Contains("1 of 3 targets have findings"));
  CHECK(fs::exists(fuzz / "build/fuzz/findings/weak/crash-x"));
  CHECK(fuzz.row("weak") == "407 0 1");
  CHECK(fuzz.row("plain") == "600 600 0");
  fs::remove(fuzz / "build/fuzz/bin/weak");
  REQUIRE(fuzz({"--runs", "600"}).exit == 0);
  CHECK(fuzz.row("weak") == "1007 600 1");
  CHECK(fuzz.turns_of("plain") == 2);
}

TEST_CASE("a fuzzer that does not start is a failure") {
  const Fuzzing fuzz;
  write_text(fuzz / "build/fuzz/bin/geosft_fuzz", "#!/bin/bash\n[[ -n ${GEOSFT_FUZZ_TARGET-} ]] || echo plain\n");
  for (const Words& words : {Words{}, Words{"--runs", "5"}}) {
    const ProcessResult result = fuzz(words);
    CHECK(result.exit == 1);
    CHECK_THAT(result.out, Catch::Contains("plain: 0 executions"));
  }
}

}  // namespace geosft::test::test_fuzz_script
