// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/invariance.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support.h"

namespace geosft::test::test_invariance {

TEST_CASE("differences, flips and agreement are counted over everything added") {
  InvarianceSum sum;
  CHECK(sum.result().prediction_agreement == 1.0);
  const at::Tensor original = at::tensor({1.0f, 0.0f, 0.0f, 2.0f}).view({2, 2});
  const auto flips = [](int64_t first, int64_t second) { return at::tensor({first, second}, at::kLong).to(at::kBool); };
  // The second row flipped, and its prediction with it; then again, with the same prediction. The first row of the last
  // originals predicts something else though nothing flipped.
  sum.begin(original);
  sum.add({original + 0.25, flips(0, 0)});
  sum.add({original + at::tensor({0.0f, 0.5f, 3.0f, 0.0f}).view({2, 2}), flips(0, 1)});
  sum.add({original, flips(0, 1)});
  sum.begin(original);
  sum.add({original + at::tensor({0.0f, 1.5f, 0.0f, 0.0f}).view({2, 2}), flips(0, 0)});
  const Invariance found = sum.result();
  CHECK(found.max_logit_difference == 3.0);
  CHECK(found.max_unflipped_difference == 1.5);
  CHECK(found.flipped_share == 0.25);
  CHECK(found.ever_flipped_share == 0.25);
  CHECK(found.prediction_agreement == 0.75);
  CHECK(found.unflipped_agreement == Approx(5.0 / 6));
  nlohmann::json json;
  set_invariance(json, found);
  CHECK(json.at("max_logit_difference") == 3.0);
  CHECK(json.at("flipped_share") == 0.25);
  CHECK(json.at("ever_flipped_share") == 0.25);
  CHECK(json.at("unflipped_agreement") == Approx(5.0 / 6));
  CHECK_THAT(invariance_text(found),
             Catch::Contains("same prediction for 75.0 % of the copies, largest difference of a logit 3\n") &&
                 Catch::Contains("25.0 % of the copies (of 25.0 % of the clouds)") &&
                 Catch::EndsWith("same prediction for 83.3 %, largest difference 1.5\n"));
  Invariance equal = found;
  equal.flipped_share = 0;
  CHECK_THAT(invariance_text(equal), Catch::EndsWith("\nno copy has another order of points or other samples\n"));
}

TEST_CASE("where every copy flipped there is no figure of the others") {
  const at::Tensor original = at::tensor({1.0f, 0.0f}).view({1, 2});
  InvarianceSum sum;
  sum.begin(original);
  sum.add({original.flip(1), at::ones({1}, at::kBool)});
  const Invariance found = sum.result();
  CHECK((std::isnan(found.unflipped_agreement) && std::isnan(found.max_unflipped_difference)));
  CHECK(found.prediction_agreement == 0.0);
  CHECK(found.ever_flipped_share == 1.0);
  CHECK_THAT(invariance_text(found), Catch::EndsWith("100.0 % of the copies (of 100.0 % of the clouds)\n"));
  nlohmann::json json;
  set_invariance(json, found);
  CHECK(json.dump().find("\"unflipped_agreement\":null") != std::string::npos);
}

TEST_CASE("what was not moved has no difference") {
  nlohmann::json json;
  set_invariance(json, std::nullopt);
  CHECK(json == nlohmann::json{{"max_logit_difference", 0.0}});
  CHECK(invariance_text(std::nullopt).empty());
}

}  // namespace geosft::test::test_invariance
