// SPDX-License-Identifier: Apache-2.0
#include "tools/common/invariance.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support.h"

namespace geosft::test::test_invariance {

TEST_CASE("differences, flips and agreement are counted over everything added") {
  InvarianceTally tally;
  CHECK(tally.result().prediction_agreement == 1.0);
  const at::Tensor original = at::tensor({1.0f, 0.0f, 0.0f, 2.0f}).view({2, 2});
  tally.add(original, original + 0.25, at::tensor({0, 0}, at::kLong).to(at::kBool));
  // The second row flipped, and its prediction with it.
  tally.add(original, original + at::tensor({0.0f, 0.5f, 3.0f, 0.0f}).view({2, 2}),
            at::tensor({0, 1}, at::kLong).to(at::kBool));
  const Invariance found = tally.result();
  CHECK(found.max_logit_difference == 3.0);
  CHECK(found.max_unflipped_difference == 0.5);
  CHECK(found.flipped_share == 0.25);
  CHECK(found.prediction_agreement == 0.75);
  nlohmann::json json;
  set_invariance(json, found);
  CHECK(json.at("max_logit_difference") == 3.0);
  CHECK(json.at("flipped_share") == 0.25);
  CHECK_THAT(invariance_text(found), Catch::Contains("3 (0.5 where the same was chosen") && Catch::Contains("25.0 %") &&
                                         Catch::Contains("75.0 %"));
}

TEST_CASE("what was not moved has no difference") {
  nlohmann::json json;
  set_invariance(json, std::nullopt);
  CHECK(json == nlohmann::json{{"max_logit_difference", 0.0}});
  CHECK(invariance_text(std::nullopt).empty());
}

}  // namespace geosft::test::test_invariance
