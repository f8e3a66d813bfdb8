// SPDX-License-Identifier: Apache-2.0
#include "tools/common/attention_report.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

namespace geosft::test::test_attention_report {

TEST_CASE("degrees, bounds and exact layers are reported", "[attention_report]") {
  const std::vector<PolynomialDegree> degrees{{false, 4, 495, 0.5, 0.00125}, {true, 0, 0, 30.0, 0}};
  CHECK(attention_text(degrees) ==
        "layer 1: scores up to 0.5, degree 4, weights within 0.125 % of softmax\n"
        "layer 2: scores up to 30, exact attention\n");
  CHECK(attention_json(degrees).dump() ==
        R"([{"bound":0.5,"degree":4,"error_bound":0.00125},{"bound":30.0,"exact":true}])");
  CHECK(attention_text({}).empty());
  CHECK(attention_json({}).empty());
}

TEST_CASE("an error without a bound is said, and null in JSON", "[attention_report]") {
  const PolynomialDegree odd{false, 3, 20, 9.0, std::numeric_limits<double>::infinity()};
  CHECK(attention_text({odd}) == "layer 1: scores up to 9, degree 3, no bound on the error of its weights\n");
  CHECK(attention_json({odd})[0]["error_bound"].is_null());
}

}  // namespace geosft::test::test_attention_report
