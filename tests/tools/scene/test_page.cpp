// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/page.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "data/read_file.h"
#include "tests/temporary_path.h"
#include "tests/tools/scene/browser.h"
#include "tests/tools/scene/looked_at.h"
#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/view/view_tool.h"
#include "tests/tools/view/virtual_screen.h"
#include "tools/experiment/arguments.h"
#include "tools/scene/colouring.h"
#include "tools/scene/segment_gallery.h"

namespace geosft::test::test_page {
using namespace view;
namespace {

using Json = nlohmann::json;

std::string element(const std::string& page, const std::string& id) {
  const size_t begin = page.find('>', page.find("id=\"" + id + "\"")) + 1;
  return page.substr(begin, page.find("</script>", begin) - begin);
}

// A page, taken apart: the scene, and its arrays.
struct Page {
  std::string text;
  Json scene;
  std::string bytes;

  explicit Page(const std::filesystem::path& file) : text(read_file(file)), scene(Json::parse(element(text, "scene"))) {
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t group = 0;
    int bits = 0;
    for (const char c : element(text, "arrays")) {
      if (c == '=') break;
      group = group << 6 | static_cast<uint32_t>(letters.find(c));
      if ((bits += 6) >= 8) bytes += static_cast<char>(group >> (bits -= 8) & 255U);
    }
  }
  at::Tensor array(const Json& entry, at::ScalarType dtype) {
    const auto length = entry.at("length").get<int64_t>();
    return at::from_blob(bytes.data() + entry.at("offset").get<size_t>(), {length}, dtype).clone();
  }
};

Page written(const Subject& subject, const Choices& choices, const Camera& camera = {}) {
  const std::filesystem::path file = temporary_path("page.html");
  write_page(subject, choices, camera, file);
  Page page(file);
  std::filesystem::remove(file);
  return page;
}

const Json& field(const Json& body, const std::string& colour, int64_t number) {
  for (const Json& one : body.at("fields")) {
    if (one.at("colour") == colour && one.at("number") == number) return one.at("values");
  }
  FAIL("no field " << colour << ' ' << number);
  throw std::logic_error(colour);
}

}  // namespace

TEST_CASE("a page holds the points at their places, and every colouring of every layer") {
  const Subject subject = random_gallery(true)->get(0, false);
  Page page = written(subject, choose(Colouring::importance));
  const Json& body = page.scene.at("bodies").at(0);
  const at::Tensor points = page.array(body.at("points"), at::kFloat).view({-1, 3});
  const at::Tensor middle = at::tensor(body.at("middle").get<std::vector<double>>(), at::kDouble);
  require_close(points.to(at::kDouble) * page.scene.at("size").get<double>() + middle, subject.points, 1e-6, "points");
  REQUIRE(page.scene.at("colourings").size() == colourings_of(subject).size());
  for (const Colouring colouring : {Colouring::importance, Colouring::diversity}) {
    const std::vector<int64_t> layers = layers_of(subject, colouring);
    REQUIRE(page.scene.at("layers").at(colouring_name(colouring)).get<std::vector<int64_t>>() == layers);
    for (const int64_t layer : layers) {
      Choices choices = choose(colouring);
      choices.layer = layer;
      require_equal(page.array(field(body, colouring_name(colouring), layer), at::kFloat),
                    values_of(subject, choices).to(at::kFloat), colouring_name(colouring));
    }
  }
}

TEST_CASE("a page holds the attention of every query, layer and head to 1/255 of the largest of its row") {
  for (const char* attention : {"sampling", "softmax"}) {
    INFO(attention);
    ClassifySettings settings = small_settings();
    settings.model.attention = attention;
    const Subject subject = gallery_of(settings)->get(0, false);
    Page page = written(subject, choose(Colouring::attention));
    const Json& body = page.scene.at("bodies").at(0);
    REQUIRE(body.at("attention").size() == 2);
    for (const Json& layer : body.at("attention")) {
      const auto heads = layer.at("heads").get<int64_t>(), keys = layer.at("keys").get<int64_t>();
      const at::Tensor rows = page.array(layer.at("rows"), at::kByte).view({-1, heads, keys}).to(at::kDouble);
      const at::Tensor scale = page.array(layer.at("scale"), at::kFloat).view({-1, heads, 1}).to(at::kDouble);
      const at::Tensor share = rows * scale / 255;
      Choices choices = choose(Colouring::attention);
      choices.layer = layer.at("layer").get<int64_t>();
      for (const int64_t query : {0, 7, 39}) {
        for (const int64_t head : {1, 4}) {
          choices.query = query;
          choices.head = head;
          at::Tensor values = share[query][head - 1];
          if (layer.contains("top")) {
            const at::Tensor weight = page.array(layer.at("weight"), at::kFloat).to(at::kDouble);
            const auto rows_of = [&](const char* name) { return page.array(layer.at(name), at::kInt).to(at::kLong); };
            values = at::zeros({40}, at::kDouble)
                         .index_add(0, rows_of("top"), values * weight)
                         .index_add(0, rows_of("partner"), values * (1 - weight));
          }
          require_close(values, values_of(subject, choices).to(at::kDouble), 0.02, "attention", 1e-3);
        }
      }
    }
  }
}

TEST_CASE("a page begins with the chosen colouring, layer, head and query, and is seen from the camera") {
  const Subject subject = random_gallery(true)->get(0, false);
  Choices choices = choose(Colouring::attention);
  choices.layer = 1, choices.head = 3, choices.query = 11, choices.map = ColourMap::cividis;
  const Json start = written(subject, choices, {10, -20, 2}).scene.at("start");
  REQUIRE(start == Json{{"colour", "attention"},
                        {"layer", 1},
                        {"head", 3},
                        {"query", 11},
                        {"component", 2},
                        {"map", "cividis"},
                        {"azimuth", 10.0},
                        {"elevation", -20.0},
                        {"zoom", 2.0},
                        {"orthographic", false},
                        {"surface", false},
                        {"discs", false},
                        {"hydrogens", true},
                        {"labels", false}});
}

TEST_CASE("a page has the classes of its points, and one for those without a label") {
  Subject subject = random_gallery(false)->get(0, false);
  const int64_t points = subject.points.size(0);
  const PartNames names{{{"lamp", "mug"}}, {{"top", 0}, {"foot", 0}, {"cup", 1}}};
  const at::Tensor labels = at::arange(points, at::kLong) % 4 - 1;  // -1 to 2
  subject.true_parts = part_labels(names, labels, /*one_class=*/true);
  subject.parts = part_labels(names, at::full({points}, 2, at::kLong), true);
  Page page = written(subject, choose(Colouring::true_parts));
  const Json& own = page.scene.at("bodies").at(0).at("labels");
  for (const auto& [kind, found] : {std::pair{"true_parts", *subject.true_parts}, std::pair{"parts", *subject.parts}}) {
    const Json& classes = page.scene.at("classes").at(kind);
    const at::Tensor rows = page.array(own.at(kind), at::kInt).to(at::kLong);
    for (int64_t i = 0; i < points; ++i) {
      const Json& one = classes.at(static_cast<size_t>(rows[i].item<int64_t>()));
      const auto part = found.labels[i].item<int64_t>();
      CHECK_THAT(one.at("name").get<std::string>(),
                 Catch::StartsWith(part < 0 ? "unlabelled, " : std::to_string(part) + " "));
      require_equal(at::tensor(one.at("colour").get<std::vector<double>>(), at::kDouble), found.colours[i], "colour");
    }
  }
}

TEST_CASE("a page has the elements of atoms by their label: hydrogen, which the page can hide, is 0") {
  Subject subject = random_gallery(false)->get(0, false);
  const at::Tensor labels = at::arange(subject.points.size(0), at::kLong) % 2 * 5;  // H and C in turns
  const at::Tensor colours = at::ones({labels.size(0), 3}, at::kDouble);
  subject.elements = PointLabels{labels, colours, {{"H, 20", {1, 1, 1}}, {"C, 20", {1, 1, 1}}}};
  Page page = written(subject, choose(Colouring::height));
  const Json& classes = page.scene.at("classes").at("elements");
  REQUIRE(classes.size() == 6);
  CHECK((classes[0].at("name") == "H, 20" && classes[1].is_null() && classes[5].at("name") == "C, 20"));
  require_equal(page.array(page.scene.at("bodies").at(0).at("labels").at("elements"), at::kInt).to(at::kLong), labels,
                "elements");
}

TEST_CASE("the page of a contact sheet has a body for each item, with its prediction, size and query") {
  const auto gallery = random_gallery(true);
  const ContactSheet sheet = contact_sheet(*gallery, 2, {2, 2}, choose(Colouring::attention), false);
  const std::filesystem::path file = temporary_path("sheet.html");
  write_sheet_page(sheet, {}, file);
  Page page(file);
  std::filesystem::remove(file);
  REQUIRE(page.scene.at("grid") == 2);
  REQUIRE(page.scene.at("bodies").size() == 4);
  for (size_t i = 0; i < 4; ++i) {
    const Json& body = page.scene.at("bodies").at(i);
    const at::Tensor points = page.array(body.at("points"), at::kFloat).view({-1, 3});
    const at::Tensor middle = at::tensor(body.at("middle").get<std::vector<double>>(), at::kDouble);
    require_close(points.to(at::kDouble) * body.at("size").get<double>() + middle, sheet.subjects[i].points, 1e-6,
                  "points");
    REQUIRE(body.at("query") == chosen_query(sheet.subjects[i], sheet.choices));
    REQUIRE(body.at("caption") == Json(sheet.scenes[i].lines));
    REQUIRE(body.at("wrong") == (sheet.subjects[i].right == false));
  }
  REQUIRE_THROWS_WITH(write_sheet_page(sheet, {}, file, 1000), Catch::Contains("--html"));
}

TEST_CASE("names cannot leave their place in a page") {
  Subject subject = random_gallery(false)->get(0, false);
  subject.name = "</script><b>&x.ply";
  const Page page = written(subject, choose(Colouring::height));
  REQUIRE(page.scene.at("lines").at(0) == subject.name);
  REQUIRE_THAT(page.text, Catch::Contains("<title>&lt;/script&gt;&lt;b&gt;&amp;x.ply</title>"));
  subject.name = "/data/scans/mug.ply";
  REQUIRE_THAT(written(subject, choose(Colouring::height)).text, Catch::Contains("<title>mug.ply</title>"));
}

TEST_CASE("a page that would be too large is refused with advice, and nothing is written") {
  const Subject subject = random_gallery(true)->get(0, false);
  const std::filesystem::path file = temporary_path("page.html");
  REQUIRE_THROWS_WITH(write_page(subject, choose(Colouring::height), {}, file, 1000),
                      Catch::Contains("--html") && Catch::Contains("--points"));
  REQUIRE_THROWS_AS(write_page(subject, choose(Colouring::height), {}, file, 30000), UsageError);
  REQUIRE_FALSE(std::filesystem::exists(file));
}

TEST_CASE("the scene of a report leaves out what its place has no room for") {
  const Subject subject = random_gallery(true)->get(0, false);
  const auto full = report_scene(subject, 2);
  REQUIRE(full);
  const auto bytes = static_cast<int64_t>(full->scene.size() + full->arrays.size());
  const auto without = report_scene(subject, 10, 10 * (bytes - 1));
  REQUIRE(without);
  const Json all = Json::parse(full->scene), rest = Json::parse(without->scene);
  REQUIRE(all.at("bodies").at(0).at("attention").size() == 2);
  REQUIRE(all.at("start").at("colour") == colouring_name(usual_colouring(subject)));
  REQUIRE(rest.at("bodies").at(0).at("attention").empty());
  REQUIRE(rest.at("layers").at("attention").empty());
  REQUIRE(rest.at("colourings").size() == all.at("colourings").size() - 1);
  REQUIRE(static_cast<int64_t>(without->scene.size() + without->arrays.size()) < bytes);
  REQUIRE_FALSE(report_scene(subject, 10, 1000));
}

// Writes the page of a ball of 400 points with a classifier of two layers, and returns its path.
std::string ball_page(const ClassifyShop& shop) {
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 400));
  shop.run_well(shop.train("deep", {"--depth", "2", "--epochs", "1"}));
  const std::string page = (shop / "ball.html").string();
  const ProcessResult made = run_view_tool(
      {"--run", (shop / "deep").string(), (shop / "ball.xyz").string(), "--points", "400", "--html", page},
      shop.process());
  INFO(made.err);
  REQUIRE(made.exit == 0);
  return page;
}

// The margins left, right, above and below the points, as shares of the width or height of the canvas.
const std::string margins =
    "(() => { const places = [...Array(bodies[0].count).keys()].map(row => seen(bodies[0], row, matrices())), wide = "
    "canvas.clientWidth, tall = canvas.clientHeight; return [Math.min(...places.map(at => at.x - at.radius)) / wide, 1 "
    "- "
    "Math.max(...places.map(at => at.x + at.radius)) / wide, Math.min(...places.map(at => at.y - at.radius)) / tall, 1 "
    "- "
    "Math.max(...places.map(at => at.y + at.radius)) / tall]; })()";

TEST_CASE("a page is drawn by a browser, a click changes the query, and the console stays empty", "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const ClassifyShop shop;
  const std::string page = ball_page(shop);
  const std::vector<Json> values = browsed(
      page, {"size:1280,960", count_pixels, "js:state.colour", "js:" + front_row, "click:" + front_place,
             "js:[state.colour, state.query, document.querySelector('#legend .title').textContent]", count_pixels,
             "reload:colour=normals", count_pixels, "js:state.azimuth", "drag:700,400,50,0", "js:state.azimuth",
             "reload:colour=samples&layer=2", "js:names().length", "reload:colour=normals", "js:" + margins});
  REQUIRE(values.size() == 11);
  // The ball fills a good part of the picture; importance and normals are coloured.
  for (const size_t picture : {0, 5}) {
    REQUIRE(values.at(picture).at(0).get<double>() > 0.1);
    REQUIRE(values.at(picture).at(0).get<double>() < 0.9);
    REQUIRE(values.at(picture).at(1).get<double>() > 0.05);
  }
  REQUIRE(values.at(1) == "importance");
  REQUIRE(values.at(3).at(0) == "attention");
  REQUIRE(values.at(3).at(1) == values.at(2));
  REQUIRE_THAT(values.at(3).at(2).get<std::string>(), Catch::Contains("point " + values.at(2).dump()));
  REQUIRE(values.at(7).get<double>() == Approx(values.at(6).get<double>() - 20));
  REQUIRE(values.at(8) == 3);
  // The ball is in the middle, and touches the margins of 5 % where the canvas is narrowest.
  const std::vector<double> margin = values.at(9);
  REQUIRE(margin.at(0) == Approx(margin.at(1)).margin(0.01));
  REQUIRE(margin.at(2) == Approx(margin.at(3)).margin(0.01));
  REQUIRE(std::min(margin.at(0), margin.at(2)) == Approx(0.05).margin(0.01));
  REQUIRE(values.back() == Json::array());
}

TEST_CASE("Firefox draws a page, and a click changes the query", "[window]") {
  if (!installed("firefox-esr")) return leave_out("no firefox-esr: pages are not looked at with it");
  const VirtualScreen screen;
  if (!screen.there()) return;
  const ClassifyShop shop;
  const std::vector<Json> values = browsed(ball_page(shop),
                                           {"size:1280,960", count_pixels, "js:" + front_row, "click:" + front_place,
                                            "js:[state.colour, state.query]", count_pixels},
                                           {"--firefox"});
  REQUIRE(values.size() == 5);
  for (const size_t picture : {0, 3}) {
    REQUIRE(values.at(picture).at(0).get<double>() > 0.1);
    REQUIRE(values.at(picture).at(0).get<double>() < 0.9);
    REQUIRE(values.at(picture).at(1).get<double>() > 0.05);
  }
  REQUIRE(values.at(2) == Json{"attention", values.at(1)});
}

TEST_CASE("a page of many points draws a part of them while it moves, and finds the point under the pointer",
          "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const ClassifyShop shop;
  write_text(shop / "many.xyz", sphere_xyz(1.0, 150'000, /*normals=*/false));
  const std::string page = (shop / "many.html").string();
  REQUIRE(run_view_tool({(shop / "many.xyz").string(), "--html", page}, shop.process()).exit == 0);
  // A frame is drawn within one evaluation, so that no other frame changes what is moving. The points that it draws are
  // counted where they are handed to WebGL.
  const std::string drawn = R"js(const drawn = [];
    for (const [name, at] of [['drawElements', 1], ['drawArrays', 2]])
      gl[name] = (...values) => { drawn.push(values[at]); WebGL2RenderingContext.prototype[name].apply(gl, values); };
    )js";
  const std::vector<Json> values = browsed(
      page, {"size:400,300", count_pixels,
             "js:(() => { " + drawn + "moving = 1; maxMoving = 30000; render(); return drawn; })()",
             "js:(() => { moving = 1; maxMoving = 30000; return " + std::string(count_pixels).substr(3) + "; })()",
             "js:(() => { " + drawn + "moving = 0; maxMoving = 30000; render(); return [...drawn, maxMoving]; })()",
             // The frame took its time, half, or twice of it, and the change and the part are limited.
             "js:[40, 20, 80, 1, 1000].map(took => nextMoving(60000, took))",
             "js:[nextMoving(20000, 80), nextMoving(1e6, 40), nextMoving(30000, 0)]",
             "js:[...Array(20).keys()].every(i => { const at = seen(bodies[0], 7000 * i, matrices()); "
             "const found = pick(at.x, at.y); const there = seen(bodies[0], found.row, matrices()); "
             "return there.depth <= at.depth && Math.hypot(there.x - at.x, there.y - at.y) <= 6; })"});
  REQUIRE(values.at(0).at(0).get<double>() > 0.1);
  REQUIRE(values.at(1) == Json{30'000});
  REQUIRE(values.at(2).at(0).get<double>() == Approx(values.at(0).at(0).get<double>()).epsilon(0.2));
  REQUIRE(values.at(3) == Json{150'000, 30'000});
  REQUIRE(values.at(4) == Json{60'000, 90'000, 30'000, 90'000, 20'000});
  REQUIRE(values.at(5) == Json{20'000, 150'000, 45'000});
  REQUIRE(values.at(6) == true);
  REQUIRE(values.back() == Json::array());
}

TEST_CASE("a page shows a contact sheet, and a click asks the item under it alone", "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const ClassifyShop shop;
  const std::string page = (shop / "sheet.html").string();
  const ProcessResult made =
      run_view_tool({"--run", shop.trained(), "--item", "1", "--grid", "2x2", "--html", page}, shop.process());
  INFO(made.err);
  REQUIRE(made.exit == 0);
  // The pixels of each cell that are drawn; then a point of the last item.
  const std::string drawn =
      "js:(() => { draw(true); return cells().map(cell => { const pixels = new Uint8Array(4 * cell.wide * cell.tall); "
      "gl.readPixels(cell.left, canvas.height - cell.top - cell.tall, cell.wide, cell.tall, gl.RGBA, gl.UNSIGNED_BYTE, "
      "pixels); let found = 0; for (let i = 0; i < pixels.length; i += 4) found += pixels[i] + pixels[i + 1] + "
      "pixels[i "
      "+ 2] < 760; return found / cell.wide / cell.tall; }); })()";
  const std::string front =
      "(() => { const cell = cells()[3], views = matrices(cell), all = [...Array(bodies[3].count).keys()].map(row => "
      "({ row, ...seen(bodies[3], row, views, cell) })).sort((a, b) => a.depth - b.depth); return all[0]; })()";
  const std::vector<Json> values =
      browsed(page, {"size:1100,800", drawn, "js:bodies.map(body => body.query)", "js:" + front + ".row",
                     "click:(() => { const at = " + front +
                         ", box = canvas.getBoundingClientRect(); return [box.left + "
                         "at.x, box.top + at.y]; })()",
                     "js:[state.colour, ...bodies.map(body => body.query)]"});
  REQUIRE(values.size() == 5);
  for (const Json& share : values.at(0)) REQUIRE(share.get<double>() > 0.02);
  REQUIRE(values.at(0).size() == 4);
  Json expected = {"attention"};
  for (const Json& query : values.at(1)) expected.push_back(query);
  expected.at(4) = values.at(2);
  REQUIRE(values.at(3) == expected);
  REQUIRE(values.at(4) == Json::array());
}

// Picks at 49 places around the middle of the picture; returns how many picks find a point, and how many of these
// points are in front.
const std::string front_picks =
    "js:(() => { const middle = -matrices().view[14], found = []; for (let i = -3; i <= 3; ++i) for (let j = -3; j <= "
    "3; ++j) { const one = pick(canvas.clientWidth / 2 + 5 * i, canvas.clientHeight / 2 + 5 * j); if (one) "
    "found.push(seen(one.body, one.row, matrices()).depth < middle); } return [found.length, "
    "found.filter(Boolean).length]; })()";

TEST_CASE("a surface answers a click wherever it is drawn, by a point in front", "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const ClassifyShop shop;
  const std::string page = (shop / "page.html").string();
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const ProcessResult made = run_view_tool({"--run", shop.trained(), cube, "--html", page}, shop.process());
  INFO(made.err);
  REQUIRE(made.exit == 0);
  const std::vector<Json> values =
      browsed(page, {"js:state.surface", front_picks, "js:(() => { change({ orthographic: true }); return 1; })()",
                     front_picks, "js:pick(2, 2)"});
  REQUIRE(values.at(0) == true);
  REQUIRE(values.at(1) == Json{49, 49});
  REQUIRE(values.at(3) == Json{49, 49});
  REQUIRE(values.at(4) == nullptr);
  REQUIRE(values.back() == Json::array());
}

TEST_CASE("pages of a mesh, of a rotated copy, of parts and of a graph are drawn without complaints", "[window]") {
  if (!installed("chromium")) return leave_out("no chromium: pages are not looked at");
  const ClassifyShop shop;
  const SegmentShop parts;
  const GraphShop graphs;
  const std::string page = (shop / "page.html").string(), run = shop.trained();
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const Words to_page = {"--html", page};
  for (const Words& words :
       {Words{cube}, Words{"--run", run, cube}, Words{"--run", run, "--item", "1", "--beside"},
        Words{"--run", parts.trained(), "--item", "1"}, Words{"--graph", "--run", graphs.trained(), "--item", "2"}}) {
    const ProcessResult made = run_view_tool(words + to_page, shop.process());
    INFO(words.front() << ' ' << words.back() << ' ' << made.err);
    REQUIRE(made.exit == 0);
    const std::vector<Json> values = browsed(
        page, {count_pixels, "js:[Boolean(bodies[0].surface), bodies.length, Boolean(bodies[0].edges)]",
               "js:(() => { change({ labels: true, discs: true, colour: scene.colourings.includes('attention') ? "
               "'attention' : "
               "'height' }); draw(true); const widths = bodies[0].edges ? [...edgeWidths(bodies[0])] : [1]; return "
               "[$('letters').hidden, labelOf(bodies[0], 2), Math.max(...widths)]; })()"});
    REQUIRE(values.at(0).at(0).get<double>() > 0.02);
    REQUIRE(values.at(1).at(0).get<bool>() == (words.back() == cube));
    REQUIRE(values.at(1).at(1).get<int>() == (words.back() == "--beside" ? 2 : 1));
    REQUIRE(values.at(1).at(2).get<bool>() == (words.front() == "--graph"));
    // The nodes of a graph are numbered, and the edge with the largest attention is the widest.
    REQUIRE(values.at(2).at(0).get<bool>() == (words.front() != "--graph"));
    REQUIRE(values.at(2).at(1) == "2");
    const auto widest = values.at(2).at(2).get<double>();
    if (words.front() == "--graph") REQUIRE((widest == Approx(2.6) || widest == Approx(0.4)));  // 0.4: no attention
    REQUIRE(values.back() == Json::array());
  }
}

}  // namespace geosft::test::test_page
