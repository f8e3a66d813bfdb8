// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/tools/analyze/analyze_tool.h"

namespace geosft::test::test_family_command {

TEST_CASE("the members of the primal-dual family are drawn against tokens") {
  const AnalysisShop shop;
  const Words small = {"--tokens", "64,128", "--attentions", "softmax,bn_sh", "--width", "16", "--heads", "4"};
  const std::string out = shop.analyze_well(Words{"family", "--repeats", "1"} + small);
  for (const char* what : {"multiply-adds", "seconds", "bytes"}) {
    CHECK_THAT(out, Catch::Contains(std::string(what) + " against tokens, bn_sh: power "));
  }
  CHECK_THAT(out, Catch::Contains("\nsoftmax beside softmax at 128 tokens: multiply-adds 1, seconds 1, bytes 1\n"));
  CHECK_THAT(out, Catch::Contains("\nbn_sh beside softmax at 128 tokens: multiply-adds 0."));
  CHECK(shop.csv().size() == 1 + 2 * 2);
  shop.analyze_well(Words{"family", "--repeats", "1", "--pass", "inference"} + small);
  CHECK(shop.csv().size() == 1 + 2 * 2);
  CHECK(shop.analyze({"family", "--attentions", "cosine"}).exit == 2);
}

}  // namespace geosft::test::test_family_command
