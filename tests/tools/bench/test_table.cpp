// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/table.h"

#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_table {
namespace {

using Catch::Contains;

Results with_minimum(double minimum, double upper_quartile) {
  Measurement one = some_measurement("a/forward", "geosft");
  one.timing.minimum = minimum;
  one.timing.upper_quartile = upper_quartile;
  return {some_machine(), small_sizes(), {one}};
}

}  // namespace

TEST_CASE("durations and sizes have three digits and a unit", "[bench]") {
  CHECK(duration(0.00123456) == "1.23 ms");
  CHECK(duration(0.0999) == "99.9 ms");
  CHECK(duration(0.5) == "500 ms");
  CHECK(duration(12.345) == "12.3 s");
  CHECK(duration(1234.6) == "1235 s");
  CHECK(duration(4.5e-6) == "4.50 us");
  CHECK(memory(0) == "0.00 KiB");
  CHECK(memory(1536) == "1.50 KiB");
  CHECK(memory(int64_t{5} << 40) == "5120 GiB");
}

TEST_CASE("the table names each benchmark once and has a line per implementation", "[bench]") {
  Measurement rate = some_measurement("b/forward", "geosft");
  rate.keys = 18.47;
  rate.items = 16;
  rate.items_are = "clouds";
  const std::string text =
      table({some_measurement("a/forward", "geosft"), some_measurement("a/forward", "other one"), rate});
  CHECK(text.find("a/forward") == text.rfind("a/forward"));
  CHECK_THAT(text, Contains("other one") && Contains("2.00 ms") && Contains("2.10 ms - 2.40 ms") &&
                       Contains("1.90 ms") && Contains("0.50") && Contains("0.75") && Contains("3.00 MiB") &&
                       Contains("8000 clouds/s") && Contains("keys") && Contains("  18.5 "));
}

TEST_CASE("a comparison tells change from spread", "[bench]") {
  const Results before = with_minimum(0.002, 0.0024);
  CHECK_THAT(comparison(before, with_minimum(0.001, 0.0012)), Contains("x 0.50") && Contains("faster"));
  CHECK_THAT(comparison(before, with_minimum(0.003, 0.0032)), Contains("x 1.50") && Contains("slower"));
  CHECK_THAT(comparison(before, with_minimum(0.0021, 0.0022)), Contains("within the spread"));
}

TEST_CASE("a comparison says what else is different, and what only one of the two has", "[bench]") {
  const Results before = with_minimum(0.002, 0.0024);
  CHECK_THAT(comparison(before, before), !Contains("before,") && !Contains("only"));
  Results now = before;
  now.machine.simd_target = "SCALAR";
  now.sizes.tokens = 99;
  now.measurements[0].benchmark = "new/forward";
  CHECK_THAT(comparison(before, now), Contains("vector target: AVX2 before, SCALAR now") && Contains("tokens 99") &&
                                          Contains("only before: a/forward: geosft\n") &&
                                          Contains("only now: new/forward: geosft\n"));
}

}  // namespace geosft::bench::test::test_table
