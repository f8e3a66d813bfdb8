// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/analyze/analysis.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"
#include "tests/tools/analyze/analyze_tool.h"
#include "tests/tools/view/virtual_screen.h"
#include "tools/experiment/arguments.h"

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
  CHECK(power_law({1, 2}, {1, 8}).exponent == Approx(3));
  CHECK(std::isnan(power_law({1, 2}, {1, 8}).error));  // a line through two points has no residuals
  CHECK(exponent_text({1.234, 0.056}) == "1.23 ± 0.06");
  CHECK(exponent_text(power_law({1, 2}, {1, 8})) == "3.00");
  require_error([] { power_law({1}, {1}); }, {"two"});
  require_error([] { power_law({1, 2}, {1, 0}); }, {"positive"});
}

TEST_CASE("analyses without a trained model are computed on the CPU, and on nothing else") {
  AnalysisBasics basics;
  CHECK_NOTHROW(basics.apply_runtime());
  basics.runtime.device = "cuda";
  CHECK_THROWS_AS(basics.apply_runtime(), UsageError);
}

TEST_CASE("curves are saved as numbers and as a picture") {
  const TemporaryFolder folder;
  const AnalysisOutput output{(folder / "x").string()};
  const std::vector<Curve> curves = {{"a", {1, 2}, {3, 4}}};
  if (has_gnuplot()) output.save("n", "value", curves, {{{"t", "n", "value"}, curves}});
  if (!has_gnuplot()) CHECK_THROWS(output.save("n", "value", curves, {{{"t", "n", "value"}, curves}}));
  CHECK(read_text(folder / "x.csv") == "curve,n,value\na,1,3\na,2,4\n");
  CHECK_THROWS(AnalysisOutput{(folder / "no" / "x").string()}.write_csv("x"));
}

TEST_CASE("an output with the ending of a picture is that picture, and numbers are beside it") {
  const AnalysisOutput plain{"runs/v1.5"}, pdf{"runs/rank.pdf"};
  CHECK(plain.csv() == "runs/v1.5.csv");
  CHECK(plain.beside("_curves").out == "runs/v1.5_curves");
  CHECK(pdf.csv() == "runs/rank.csv");
  CHECK(pdf.beside("_curves").out == "runs/rank_curves.pdf");
}

TEST_CASE("without a picture an analysis fails in one line, after its numbers are written") {
  const AnalysisShop shop;
  const Environment no_programs("PATH", (shop / "nothing").string());
  const Words small = {"--tokens", "8", "--width", "16", "--layers", "2", "--seeds", "1"};
  const ProcessResult result = shop.analyze(Words{"rank"} + small);
  CHECK(result.exit == 1);
  const Words lines = lines_of(result.err);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Contains("no picture: gnuplot is not installed") && Catch::Contains(shop.out() + ".csv"));
  CHECK(shop.csv().size() == 1 + 2 * 2);
}

TEST_CASE("a folder that is not there is refused before anything is computed") {
  const AnalysisShop shop;
  const std::string out = (shop / "no/such").string();
  const ProcessResult result = run_process(program_path("geosft-analyze"), {"rank", "--out", out}, shop.process());
  require_one_line_failure("geosft-analyze", result, 2, {"--out", "there is no folder"});
}

}  // namespace geosft::test::test_analysis
