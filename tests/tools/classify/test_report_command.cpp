// SPDX-License-Identifier: Apache-2.0
// geosft-classify report, end to end.
#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/tools/classify/classify_tool.h"

namespace geosft::test::test_report_command {
namespace fs = std::filesystem;

TEST_CASE("the report of a run is one page with its worst mistakes") {
  const ClassifyShop shop;
  // Hardly trained, so that there are mistakes.
  shop.run_well(shop.train("run", {"--epochs", "1", "--lr", "1e-6"}));
  const fs::path page = shop / "run" / "report.html";
  CHECK(shop.run_well({"report", (shop / "run").string()}).out == page.string() + "\n");
  const std::string text = read_text(page);
  CHECK_THAT(text, Catch::Contains("6 clouds of the test set") && Catch::Contains("accuracy") &&
                       Catch::Contains("epoch 1 of 1") && Catch::Contains("dim = 16") &&
                       Catch::Contains("<td>tetrahedron</td>") && Catch::Contains("Worst mistakes") &&
                       Catch::Contains("<a href=\"#mistake-1\">item ") &&
                       Catch::Contains("geosft-view --run RUN --item N"));
  CHECK(count_of(text, "<section ") >= 2);
  CHECK(count_of(text, "<section ") == count_of(text, "<svg "));
  CHECK(count_of(text, "class=\"scene\"") == count_of(text, "<section "));
  CHECK(count_of(text, "data:image/svg+xml") == (has_gnuplot() ? 1 : 0));
  CHECK_THAT(text, Catch::Contains("15 train, 6 test") && Catch::Contains("95 % interval of the accuracy") &&
                       Catch::Contains("Wilson's score interval of a share of 6 clouds") &&
                       Catch::Contains("best.ckpt, epoch 1 of 1") && Catch::Contains("<th>precision</th>") &&
                       Catch::Contains("<h2>Confusion matrix</h2>") && Catch::Contains("<h2>Calibration</h2>") &&
                       Catch::Contains("Expected calibration error 0."));
  const fs::path other = shop / "other.html";
  shop.run_well({"report", (shop / "run").string(), "--out", other.string(), "--mistakes", "1", "--split", "train"});
  CHECK(count_of(read_text(other), "<section ") == 1);
  CHECK_THAT(read_text(other), !Catch::Contains("compared with the upright clouds"));
  shop.run_well({"report", (shop / "run").string(), "--out", other.string(), "--rotate", "so3"});
  CHECK_THAT(read_text(other), Catch::Contains("compared with the upright clouds: same prediction for") &&
                                   Catch::Contains("set, rotated at random"));
  shop.refuses({"report", (shop / "nothing").string()}, 2, {"no run folder", "nothing"});
  const fs::path shipped = shop / "zoo" / "tiny";
  fs::create_directories(shop / "zoo");
  fs::copy(shop / "run", shipped, fs::copy_options::recursive);
  write_text(shipped / "card.json", R"({"name": "tiny", "tool": "geosft-classify", "summary": "", "command": "",
    "data": {"licence": "CC0"}, "scores": [{"metric": "accuracy", "unit": "%", "metrics": {"accuracy": 0.5}}],
    "sha256": {}})");
  const EnvironmentVariable zoo("GEOSFT_ZOO", (shop / "zoo").string());
  const auto before = fs::last_write_time(shipped / "best.ckpt");
  fs::remove(shipped / "report.html");
  shop.refuses({"report", "tiny"}, 2, {"--out FILE is required", "tiny"});
  const std::string page_of_zoo = (shop / "zoo.html").string();
  shop.run_well({"report", "tiny", "--out", page_of_zoo});
  CHECK_THAT(read_text(page_of_zoo), Catch::Contains("6 clouds of the test set"));
  CHECK(fs::last_write_time(shipped / "best.ckpt") == before);
  CHECK_FALSE(fs::exists(shipped / "report.html"));
}

}  // namespace geosft::test::test_report_command
