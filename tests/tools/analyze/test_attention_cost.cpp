// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/attention_cost.h"

#include <catch2/catch.hpp>
#include <map>

namespace geosft::test::test_attention_cost {

TEST_CASE(
    "memory of sampled attention grows with the tokens, of softmax over all of them it is left out beyond a limit") {
  const bench::Sizes sizes{.width = 32, .heads = 4, .keys = {8, 16}};
  int told = 0;
  const auto costs =
      attention_costs(sizes, {128, 256, 512}, 256, {.repeats = 1, .seconds = 0.0}, [&](const AttentionCost& cost) {
        ++told;
        CHECK(cost.seconds > 0);
      });
  CHECK(told == static_cast<int>(costs.size()));
  std::map<std::string, std::vector<double>> bytes;
  for (const AttentionCost& cost : costs) bytes[cost.attention].push_back(cost.bytes);
  CHECK(bytes.size() == 6);
  CHECK(bytes.at("softmax, all tokens").size() == 2);
  for (const char* name : {"sampling, k = 8", "sampling, k = 16", "sampling with distances, k = 8"}) {
    const std::vector<double>& grown = bytes.at(name);
    REQUIRE(grown.size() == 3);
    CHECK(grown[2] / grown[1] == Approx(2.0).margin(0.4));
  }
}

}  // namespace geosft::test::test_attention_cost
