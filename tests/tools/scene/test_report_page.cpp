// SPDX-License-Identifier: Apache-2.0
// The worst mistakes of geosft-classify report and geosft-segment report, in a browser.
#include <catch2/catch.hpp>

#include "data/read_file.h"
#include "tests/tools/scene/browser.h"
#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/view/view_tool.h"
#include "tests/tools/view/virtual_screen.h"

namespace geosft::test::test_report_page {
namespace {

using Json = nlohmann::json;

// The value of an expression in the frame of a report, as an expression of the report.
std::string in_frame(const std::string& expression) {
  return "document.getElementById('viewer').contentWindow.eval(" + Json(expression).dump() + ")";
}

const std::string drawn = "js:" + in_frame(std::string(count_pixels).substr(3));

// Leaves the report of a classifier that is hardly trained, so that there are mistakes.
std::filesystem::path poor_report(const ClassifyShop& shop) {
  shop.run_well(shop.train("run", {"--epochs", "1", "--lr", "1e-6"}));
  shop.run_well({"report", (shop / "run").string()});
  return shop / "run" / "report.html";
}

// The number of mistakes, what the frame shows, and which card is marked.
const std::string state_of_report =
    "js:[document.querySelectorAll('[data-scene]').length, " + in_frame("scene.lines[0]") +
    ", document.querySelector('.shown').id, document.getElementById('shown').textContent.split(': ')[1]]";

}  // namespace

TEST_CASE("a report shows its worst mistake to turn, another one after a click, and where its points attend",
          "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const ClassifyShop shop;
  const std::vector<Json> values =
      browsed(poor_report(shop),
              {"size:1280,960", drawn, state_of_report,
               "js:document.getElementById('mistake-2').scrollIntoView({ block: 'center' })",
               "click:(() => { const box = document.querySelector('#mistake-2 svg').getBoundingClientRect(); return "
               "[box.left + box.width / 2, box.top + box.height / 2]; })()",
               drawn, state_of_report, "js:location.hash",
               "js:document.getElementById('viewer').scrollIntoView({ block: 'center' })", "js:" + in_frame(front_row),
               "click:(() => { const [x, y] = " + in_frame(front_place) +
                   ", box = document.getElementById('viewer').getBoundingClientRect(); return [x + box.left + 1, y + "
                   "box.top + 1]; })()",
               "js:" + in_frame("[state.colour, state.query]"),
               "js:fetch(document.getElementById('save-page').href).then(page => page.text()).then(text => "
               "[text.startsWith('<!doctype html>'), /%(TITLE|SCENE|ARRAYS)%/.test(text)])",
               "reload:mistake-2", state_of_report});
  REQUIRE(values.size() == 12);
  for (const size_t picture : {0, 3}) {
    REQUIRE(values.at(picture).at(0).get<double>() > 0.02);
    REQUIRE(values.at(picture).at(1).get<double>() > 0.01);
  }
  REQUIRE(values.at(1).at(0).get<int>() >= 2);
  REQUIRE(values.at(1).at(1) == values.at(1).at(3));
  REQUIRE(values.at(1).at(2) == "mistake-1");
  REQUIRE(values.at(4).at(1) == values.at(4).at(3));
  REQUIRE(values.at(4).at(1) != values.at(1).at(1));
  REQUIRE(values.at(4).at(2) == "mistake-2");
  REQUIRE(values.at(5) == "#mistake-2");
  REQUIRE(values.at(8) == Json{"attention", values.at(7)});
  REQUIRE(values.at(9) == Json{true, false});
  REQUIRE(values.at(10) == values.at(4));
  REQUIRE(values.back() == Json::array());
}

TEST_CASE("without WebGL a report keeps its pictures, and says so", "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const ClassifyShop shop;
  const std::filesystem::path page = poor_report(shop);
  std::string text = read_file(page);
  text.insert(text.find("<head>") + 6, "<script>HTMLCanvasElement.prototype.getContext = () => null;</script>");
  write_text(page, text);
  const std::vector<Json> values =
      browsed(page, {"js:['no-webgl', 'viewer-box'].map(id => document.getElementById(id).hidden)",
                     "js:document.querySelectorAll('.mistakes svg circle').length > 100"});
  REQUIRE(values.at(0) == Json{false, true});
  REQUIRE(values.at(1) == true);
  REQUIRE(values.back() == Json::array());
}

TEST_CASE("the report of a segmentation shows the parts that were found", "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const SegmentShop shop;
  const std::filesystem::path run = shop.trained();
  shop.run_well({"report", run.string(), "--mistakes", "2"});
  const std::vector<Json> values =
      browsed(run / "report.html", {drawn, state_of_report, "js:" + in_frame("state.colour")});
  REQUIRE(values.at(0).at(0).get<double>() > 0.02);
  REQUIRE(values.at(1).at(0) == 2);
  REQUIRE(values.at(1).at(1) == values.at(1).at(3));
  REQUIRE(values.at(2) == "parts");
  REQUIRE(values.back() == Json::array());
}

}  // namespace geosft::test::test_report_page
