// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/report_texts.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/command_line.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft::test::test_report_texts {

TEST_CASE("shares are shown in percent") {
  CHECK(percent(0.8149) == "81.5 %");
  CHECK(percent(0) == "0.0 %");
}

TEST_CASE("calibration is a line, and a table of the bins that have predictions") {
  CHECK(calibration_text({}).empty());
  const std::vector<ReliabilityBin> bins = {{0.0, 0.5, 0, std::nan(""), std::nan("")}, {0.5, 1.0, 4, 0.8, 0.75}};
  CHECK(calibration_text(bins) == "expected calibration error 0.050 (2 bins)\n");
  CHECK_THAT(calibration_note(bins),
             Catch::StartsWith("Expected calibration error 0.050: the mean difference between") &&
                 Catch::Contains(" over 2 bins "));
  const auto rows = reliability_table(bins);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1] == std::vector<std::string>{"50.0 % to 100.0 %", "4", "80.0 %", "75.0 %", "-5.0 %"});
}

TEST_CASE("coordinates have the digits that their cloud needs") {
  CHECK(coordinate_text(1.25, 3) == "1.25");
  CHECK(coordinate_text(0, 0) == "0");
  CHECK(coordinate_text(1.0 / 3, 1) == "0.333333");
  CHECK(coordinate_text(5155487.125, 1) == "5155487.125");
  CHECK(coordinate_text(-694386.75, 0) == "-694386.75");
  CHECK(coordinate_text(2.5e-9, 1e-9) == "2.5e-09");
}

TEST_CASE("a picture that could not be drawn is a line on stderr for each reason, and no error") {
  const CapturedStderr shown;
  warn_unless_drawn({true, ""});
  CHECK(shown.text().empty());
  warn_unless_drawn({false, "no gnuplot"});
  CHECK(shown.text() == "no picture: no gnuplot\n");
  warn_unless_drawn({false, "no gnuplot"});
  CHECK(shown.text() == "no picture: no gnuplot\n");
  warn_unless_drawn({false, "no epochs"});
  CHECK(shown.text() == "no picture: no gnuplot\nno picture: no epochs\n");
}

TEST_CASE("learning curves are drawn in the style of their score") {
  const TemporaryFolder folder;
  const RunFolder run = RunFolder::create(folder / "run");
  const ScoreStyle style{.name = "instance_iou"};
  MetricsWriter metrics(run.metrics(), style);
  for (int64_t epoch = 1; epoch <= 2; ++epoch) metrics.append({epoch, epoch, "train", 1.0, 0.5, 1e-3, 1.0, 2.0});
  const CapturedStderr shown;
  draw_curves(run, style);
  const bool drawn = has_gnuplot();
  CHECK(std::filesystem::exists(run.learning_curves().string() + ".png") == drawn);
  CHECK(shown.text().empty() == drawn);
}

TEST_CASE("a file with a shape is described") {
  const TemporaryFolder folder;
  write_text(folder / "a.obj", tetrahedron_obj);
  CHECK_THAT(shape_file_text(folder / "a.obj"),
             Catch::Contains("a.obj: a mesh of 4 vertices and 4 triangles\n") && Catch::Contains("z from 0 to 1\n"));
  write_text(folder / "u.off",
             "OFF 8 1 0\n0 0 0\n3 0 0\n3 2 0\n2 2 0\n2 1 0\n1 1 0\n1 2 0\n0 2 0\n8 0 1 2 3 4 5 6 7\n");
  CHECK_THAT(shape_file_text(folder / "u.off"),
             Catch::Contains("8 vertices and 6 triangles\n") && Catch::Contains("surface area 5\n"));
  write_text(folder / "a.xyz", "0 1 2 0 0 1\n1 1 -1 0 0 1\n");
  CHECK_THAT(shape_file_text(folder / "a.xyz"),
             Catch::Contains("a cloud of 2 points with normals\n") && Catch::Contains("z from -1 to 2\n"));
  write_text(folder / "far.xyz", "694386.25 5155487.5 0\n694386.5 5155488.25 1\n");
  CHECK_THAT(shape_file_text(folder / "far.xyz"), Catch::Contains("y from 5155487.5 to 5155488.25\n"));
  require_error([&] { shape_file_text(folder / "b.xyz"); }, {"b.xyz"});
}

TEST_CASE("a table has names on the left and numbers on the right") {
  REQUIRE(table_text({{"class", "clouds", "IoU"}, {"lamp", "3", "12.5 %"}}) ==
          "class                     clouds       IoU\n"
          "lamp                           3    12.5 %\n");
  REQUIRE(table_text({{"class", "clouds", "lowest part"}, {"a name of thirty letters or so", "3", "x 1 %"}}) ==
          "class                           clouds  lowest part\n"
          "a name of thirty letters or so       3        x 1 %\n");
  REQUIRE(table_text({}).empty());
}

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

}  // namespace geosft::test::test_report_texts
