// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/places.h"
#include "tests/tools/experiment/subprocess.h"

namespace geosft::test::test_8_attention_of_your_own {

TEST_CASE("the example's own attention is the regressor that it comes from", "[examples]") {
  const ProcessResult result = run_process(program_path("geosft-example-attention"), {});
  INFO(result.out << result.err);
  REQUIRE(result.exit == 0);
  std::istringstream words(result.out);
  std::string word;
  int64_t pairs = 0, vectors = 0;
  double difference = 1;
  words >> word >> pairs >> word >> word >> vectors >> word >> word >> difference;
  REQUIRE(words);
  CHECK(pairs == 25);
  CHECK(vectors > 0);
  CHECK(difference < 1e-6);
}

}  // namespace geosft::test::test_8_attention_of_your_own
