// SPDX-License-Identifier: Apache-2.0
#include "tools/common/report_texts.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/common/captured_stderr.h"
#include "tests/tools/common/command_line.h"
#include "tools/common/metrics_csv.h"

namespace geosft::test::test_report_texts {

TEST_CASE("shares are shown in percent") {
  CHECK(percent(0.8149) == "81.5 %");
  CHECK(percent(0) == "0.0 %");
}

TEST_CASE("a picture that could not be drawn is a line on stderr, and no error") {
  const CapturedStderr shown;
  warn_unless_drawn({true, ""});
  CHECK(shown.text().empty());
  warn_unless_drawn({false, "no gnuplot"});
  CHECK(shown.text() == "no picture: no gnuplot\n");
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
  write_text(folder / "a.xyz", "0 1 2 0 0 1\n1 1 -1 0 0 1\n");
  CHECK_THAT(shape_file_text(folder / "a.xyz"),
             Catch::Contains("a cloud of 2 points with normals\n") && Catch::Contains("z from -1 to 2\n"));
  require_error([&] { shape_file_text(folder / "b.xyz"); }, {"b.xyz"});
}

}  // namespace geosft::test::test_report_texts
