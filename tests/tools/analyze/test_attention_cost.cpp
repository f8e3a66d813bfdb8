// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/attention_cost.h"

#include <catch2/catch.hpp>
#include <map>

#include "tools/analyze/analysis.h"

namespace geosft::test::test_attention_cost {

TEST_CASE("memory of all attentions grows with the tokens, and hardly with sampled keys") {
  const bench::Sizes sizes{.width = 32, .heads = 4, .keys = {4, 16}};
  const std::vector<int64_t> tokens = {512, 1024, 2048};
  int told = 0;
  const auto costs = attention_costs(sizes, tokens, /*max_full_tokens=*/1024, {.repeats = 1, .seconds = 0.0},
                                     [&](const AttentionCost& cost) {
                                       ++told;
                                       CHECK(cost.seconds > 0);
                                     });
  CHECK(told == static_cast<int>(costs.size()));
  std::map<std::string, std::map<std::pair<int64_t, int64_t>, double>> bytes;
  for (const AttentionCost& cost : costs) bytes[cost.attention][{cost.tokens, cost.keys}] = cost.bytes;
  REQUIRE(bytes.size() == 10);
  CHECK(bytes.at("softmax, all tokens").size() == 2);
  for (const auto& [name, found] : bytes) {
    INFO(name);
    const bool all_tokens = name.find("all tokens") != std::string::npos;
    if (name == "softmax, all tokens") continue;
    std::vector<double> x, y;
    for (const int64_t n : tokens) {
      x.push_back(static_cast<double>(n));
      y.push_back(found.at({n, all_tokens ? n : 16}));
    }
    CHECK(power_law(x, y).exponent == Approx(1.0).margin(0.15));
    if (!all_tokens) CHECK(found.at({2048, 16}) < 1.2 * found.at({2048, 4}));
  }
}

}  // namespace geosft::test::test_attention_cost
