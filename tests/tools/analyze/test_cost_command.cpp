// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_cost_command {

TEST_CASE("costs are measured against tokens and keys for each attention, and fitted") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "128,256", "--keys", "8,16", "--width", "32", "--heads", "4", "--repeats", "1"};
  const std::string out = shop.analyze_well(Words{"cost"} + small);
  const Words sampled = {"maxout",  "maxout with distances", "maxout with edges", "maxout with sinusoids", "linear",
                         "softmax", "polynomial of degree 2"};
  for (const std::string quantity : {"seconds", "bytes"}) {
    for (const std::string& name : sampled) {
      CHECK_THAT(out, Catch::Contains(quantity + " against tokens (16 keys), " + name + ": power "));
      CHECK_THAT(out, Catch::Contains(quantity + " against keys (256 tokens), " + name + ": power "));
    }
    for (const std::string name : {"softmax", "linear", "polynomial of degree 2"}) {
      CHECK_THAT(out, Catch::Contains(quantity + " against tokens (16 keys), " + name + ", all tokens: power "));
    }
  }
  CHECK(shop.csv().size() == 1 + 7 * 3 + 3 * 2);
}

}  // namespace geosft::test::test_cost_command
