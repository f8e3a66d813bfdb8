// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/html_report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support.h"
#include "tests/tools/experiment/command_line.h"

namespace geosft::test::test_html_report {

TEST_CASE("values that two blanks part are a list with commas") {
  CHECK(with_commas("accuracy 75.0 %  mean class accuracy 50.0 %  loss 1") ==
        "accuracy 75.0 %, mean class accuracy 50.0 %, loss 1");
  CHECK(with_commas("").empty());
}

TEST_CASE("text is escaped") {
  CHECK(html_text("a<b> & \"c\"") == "a&lt;b&gt; &amp; &quot;c&quot;");
}

TEST_CASE("a cloud is drawn with its colours, the near points last") {
  // The view is turned by 35 degrees and raised by 20: of two points on the z axis the one of larger z is nearer.
  const DrawnCloud cloud{"", at::tensor({0.0, 0.0, 1.0, 0.0, 0.0, -1.0}).view({2, 3}),
                         at::tensor({1.0, 0.0, 0.0, 0.0, 0.0, 1.0}).view({2, 3})};
  const std::string svg = cloud_svg(cloud, 100);
  CHECK_THAT(svg, Catch::StartsWith("<svg viewBox=\"0 0 100 100\"") && Catch::EndsWith("</svg>"));
  REQUIRE(count_of(svg, "<circle") == 2);
  CHECK(svg.find("#0000ff") < svg.find("#ff0000"));
  CHECK(count_of(cloud_svg({"", at::randn({4000, 3}, generator(1)), at::rand({4000, 3}, generator(2))}), "<circle") ==
        1334);
  CHECK_NOTHROW(cloud_svg({"", at::zeros({1, 3}), at::zeros({1, 3})}));
  require_error([] { cloud_svg({"", at::zeros({2, 3}), at::zeros({1, 3})}); }, {"colours", "[1, 3]", "[2, 3]"});
}

TEST_CASE("a page holds everything, and refers to nothing") {
  const TemporaryFolder folder;
  write_text(folder / "a.svg", "<svg/>");
  HtmlReport report{"A <run>",
                    {{"accuracy", "75 %"}},
                    {{"Curves", folder / "a.svg"}, {"Absent", folder / "b.svg"}},
                    {{"class", "right"}, {"cup", "3"}},
                    {"by probability", {{"x.off", "cup, not mug", {{"seen", at::zeros({1, 3}), at::zeros({1, 3})}}}}},
                    "dim = 64\n"};
  const std::string page = html_page(report);
  for (const char* part : {"<title>A &lt;run&gt;</title>", "75 %", "data:image/svg+xml;base64,PHN2Zy8+",
                           "<th>right</th>", "<td>cup</td>", "cup, not mug", "<svg viewBox", "dim = 64"}) {
    CHECK_THAT(page, Catch::Contains(part));
  }
  CHECK_THAT(page, !Catch::Contains("Absent") && !Catch::Contains("src=\"http") && !Catch::Contains("<script"));
}

TEST_CASE("a page has the counts of a confusion matrix, and further tables with what they show") {
  HtmlReport report{"A run", {}, {}, {}, {}, ""};
  report.confusion = {{"cup", "mug<"}, at::tensor({3, 1, 0, 2}, at::kLong).view({2, 2})};
  report.more_tables = {{"Calibration", "15 bins & more", {{"confidence", "right"}, {"0.5", "0.25"}}}};
  const std::string page = html_page(report);
  for (const char* part : {"<h2>Confusion matrix</h2>", "<th scope=\"row\">mug&lt;</th><td></td>",
                           "style=\"--share:0.75\">3</td>", "class=\"wrong\" style=\"--share:0.25\">1</td>",
                           "<h2>Calibration</h2>", "15 bins &amp; more", "<td>0.25</td>"}) {
    CHECK_THAT(page, Catch::Contains(part));
  }
  report.confusion.names.pop_back();
  require_error([&] { html_page(report); }, {"confusion.counts", "[1, 1]", "[2, 2]"});
}

TEST_CASE("the picture of a mistake is an image of its own, whatever its text and its name") {
  HtmlReport report{"A run", {}, {}, {}, {}, ""};
  Mistake one{"item 3: <b>\"x\"", "predicted a, is <b>", {}};
  one.svg = "<svg><script>alert(1)</script></svg>";
  report.mistakes = {"the worst first", {one, {"item 4", "", {}}}};
  const std::string page = html_page(report);
  CHECK(count_of(page, "<section ") == 2);
  CHECK(count_of(page, "<img alt=\"item 3: &lt;b&gt;&quot;x&quot;\" src=\"data:image/svg+xml;base64," +
                           base64(one.svg) + "\">") == 1);
  CHECK(count_of(page, "<img ") == 1);
  CHECK_THAT(page, Catch::Contains("is &lt;b&gt;") && !Catch::Contains("<script") && !Catch::Contains("<b>\""));
}

TEST_CASE("base64 has the test vectors of RFC 4648") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("JSON in a script element cannot end it") {
  CHECK(script_json("</script>") == "\"\\u003c/script>\"");
  CHECK_NOTHROW(script_json("\xff"));
}

TEST_CASE("scenes of mistakes are data, and their page is in the report once") {
  const DrawnCloud cloud{"", at::zeros({1, 3}), at::zeros({1, 3})};
  const std::string viewer = "<title>%TITLE%</title><script>%SCENE% %ARRAYS%</script>";
  HtmlReport report{"A run", {}, {}, {}, {"by probability", {}, viewer}, ""};
  report.mistakes.worst = {{"a.off", "cup", {cloud}, PageScene{"a&amp;b", "{\"a\":1}", "AAAA"}},
                           {"b.off", "cup", {cloud}, PageScene{"c", "{\"b\":2}", "BBBB"}},
                           {"c.off", "cup", {cloud}}};
  const std::string page = html_page(report);
  CHECK(count_of(page, "<section ") == 3);
  CHECK(count_of(page, "data-scene>") == 2);
  CHECK(count_of(page, "<svg ") == 3);
  CHECK(count_of(page, "\\u003ctitle>%TITLE%\\u003c/title>") == 1);
  for (const char* part : {"class=\"title\">\"a&amp;b\"</script>", "class=\"scene\">{\"a\":1}</script>",
                           "class=\"arrays\">BBBB</script>", "id=\"mistake-3\"><b>c.off</b>"}) {
    CHECK_THAT(page, Catch::Contains(part));
  }
}

}  // namespace geosft::test::test_html_report
