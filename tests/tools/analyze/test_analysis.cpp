// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/analysis.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_analysis {

TEST_CASE("a power law is found with its error") {
  std::vector<double> x = {1, 2, 4, 8}, y;
  for (const double at : x) y.push_back(3 * std::pow(at, 1.5));
  CHECK(power_law(x, y).exponent == Approx(1.5));
  CHECK(power_law(x, y).error == Approx(0.0).margin(1e-9));
  // Residuals of +-r in turn: sum of squares 4 r^2 and slope correction as by hand.
  const double r = 0.1;
  for (size_t i = 0; i < 4; ++i) y[i] *= std::exp(i == 0 || i == 3 ? r : -r);
  const PowerLaw law = power_law(x, y);
  CHECK(law.exponent == Approx(1.5));
  CHECK(law.error == Approx(std::sqrt(4 * r * r / 2 / (5 * std::pow(std::log(2.0), 2)))));
  CHECK(power_law({1, 2}, {1, 8}).error == 0);
  CHECK(exponent_text({1.234, 0.056}) == "1.23 ± 0.06");
  require_error([] { power_law({1}, {1}); }, {"two"});
  require_error([] { power_law({1, 2}, {1, 0}); }, {"positive"});
}

TEST_CASE("curves are saved as numbers and as a picture") {
  const TemporaryFolder folder;
  const AnalysisOutput output{(folder / "x").string()};
  const std::vector<Curve> curves = {{"a", {1, 2}, {3, 4}}};
  output.save("n", "value", curves, {{{"t", "n", "value"}, curves}});
  CHECK(read_text(folder / "x.csv") == "curve,n,value\na,1,3\na,2,4\n");
  CHECK_THROWS(AnalysisOutput{(folder / "no" / "x").string()}.write_csv("x"));
}

}  // namespace geosft::test::test_analysis
