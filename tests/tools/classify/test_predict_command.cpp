// SPDX-License-Identifier: Apache-2.0
// geosft-classify predict, end to end.
#include <catch2/catch.hpp>

#include "data/formats/shape_file.h"
#include "tests/data/points/utm_chair.h"
#include "tests/support.h"
#include "tests/tools/classify/classify_tool.h"
#include "tests/tools/experiment/scan_file.h"

namespace geosft::test::test_predict_command {
namespace fs = std::filesystem;

TEST_CASE("predict ranks the classes of every file") {
  const ClassifyShop shop;
  const std::string run = shop.trained();
  const Words files = {(shop.data() / "test" / "cube" / "cube_5.off").string(),
                       (shop.data() / "test" / "sphere" / "sphere_6.xyz").string(), (shop / "bare.xyz").string()};
  write_text(files[2], sphere_xyz(1.0, 300, /*normals=*/false));
  const Words lines = lines_of(shop.run_well(Words{"predict", run} + files + Words{"--json", "--top", "2"}).out);
  REQUIRE(lines.size() == files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const nlohmann::json result = nlohmann::json::parse(lines[i]);
    CHECK(result.at("file") == files[i]);
    const nlohmann::json top = result.at("top");
    REQUIRE(top.size() == 2);
    CHECK(top[0][0] == result.at("class"));
    CHECK(top[0][1] == result.at("probability"));
    CHECK(top[0][1] >= top[1][1]);
    CHECK(top[0][1].get<double>() + top[1][1].get<double>() <= Approx(1.0));
  }
  const Words text = lines_of(shop.run_well(Words{"predict", run} + files).out);
  REQUIRE(text.size() == files.size());
  CHECK_THAT(text[0], Catch::StartsWith(files[0] + ":") && Catch::Contains("sphere") && Catch::Contains(" %"));
}

TEST_CASE("predict says that a RUN or a pretrained model comes first") {
  const ClassifyShop shop;
  const std::string file = (shop.data() / "test/cube/cube_5.off").string();
  shop.refuses({"predict", file}, 2, {"'" + file + "' is no RUN", "first argument", "geosft-classify predict"});
  shop.refuses({"predict", "chair.obj", "table.obj"}, 2, {"'chair.obj' is no RUN", "chair.obj", "list"});
  shop.refuses({"predict", "nothing"}, 2, {"'nothing' is no RUN", "pretrained"});
  shop.refuses({"predict"}, 2, {"RUN is required: RUN folder", "pretrained model"});
  shop.refuses({"predict", shop.trained()}, 2, {"FILE is required", "after the RUN"});
  CHECK_THAT(shop.run_well({"predict", file, "--help"}).out, Catch::Contains("RUN TEXT REQUIRED"));
}

TEST_CASE("predict refuses options of a dataset, which it does not read") {
  const ClassifyShop shop;
  write_text(shop / "sphere.xyz", sphere_xyz(1.0));
  const Words words = {"predict", shop.trained(), (shop / "sphere.xyz").string()};
  shop.refuses(words + Words{"--data", shop.data().string()}, 2, {"--data", "predict"});
  shop.refuses(words + Words{"--skip-broken"}, 2, {"--skip-broken", "predict"});
  CHECK_THAT(shop.run_well({"predict", "--help"}).out, !Catch::Contains("--data") && !Catch::Contains("--skip-broken"));
}

TEST_CASE("predict draws the importance of the points") {
  if (!has_gnuplot()) return;
  const ClassifyShop shop;
  const std::string file = (shop.data() / "test" / "cube" / "cube_5.off").string();
  shop.run_well({"predict", shop.trained(), file, "--picture", (shop / "cube").string()});
  CHECK(fs::file_size(shop / "cube.png") > 1000);
  CHECK(fs::file_size(shop / "cube.svg") > 1000);
  for (const char* option : {"--picture", "--ply"}) {
    const ProcessResult result = shop.run({"predict", shop.trained(), file, option, (shop / "no/cube").string()});
    shop.require_failure(result, 2, {std::string(option) + ": there is no folder '", "no'"});
    CHECK(result.out.empty());
  }
}

TEST_CASE("every one of several files leaves its own coloured cloud") {
  const ClassifyShop shop;
  const fs::path test = shop.data() / "test";
  const Words files = {(test / "cube/cube_5.off").string(), (test / "sphere/sphere_6.xyz").string()};
  shop.run_well(Words{"predict", shop.trained(), "--ply", (shop / "ply").string()} + files);
  for (const char* name : {"cube_5.ply", "sphere_6.ply"}) {
    CHECK(read_ply(read_text(shop / "ply" / name), name).mesh.vertices.size(0) == 64);
  }
}

TEST_CASE("a coloured cloud has the coordinates of its file") {
  const ClassifyShop shop;
  const std::string cloud = (shop / "chair.xyz").string(), ply = (shop / "chair.ply").string();
  for (const at::Tensor& points : {chair_at_origin(40), utm_chair(40)}) {
    write_text(cloud, double_cloud_text("xyz", points));
    shop.run_well({"predict", shop.trained(), cloud, "--ply", ply});
    const at::Tensor written = read_ply(read_text(ply), ply).mesh.vertices;
    REQUIRE(written.size(0) == 40);
    CHECK((written - points).abs().max().item<double>() < 1e-6);
  }
}

TEST_CASE("a coloured cloud has the normals of its file, if that has some") {
  const ClassifyShop shop;
  const std::string cloud = (shop / "ball.xyz").string(), ply = (shop / "ball.ply").string();
  for (const bool normals : {true, false}) {
    write_text(cloud, sphere_xyz(0.9, 40, normals));
    for (const Words& more : {Words{}, Words{"--estimated-normals"}}) {
      shop.run_well(Words{"predict", shop.trained(), cloud, "--ply", ply} + more);
      const at::Tensor written = read_ply(read_text(ply), ply).normals;
      REQUIRE(written.defined() == normals);
      if (normals) require_close(written, parse_shape(read_text(cloud), cloud).normals, 1e-5, "normals");
    }
  }
}

TEST_CASE("folders and patterns are predicted, and broken files named one by one") {
  const ClassifyShop shop;
  const std::string run = shop.trained(), table = (shop / "table.csv").string();
  const fs::path test = shop.data() / "test";
  const Words lines = lines_of(shop.run_well({"predict", run, "--json", "--csv", table, test.string()}).out);
  REQUIRE(lines.size() == 6);
  REQUIRE(nlohmann::json::parse(lines[0]).at("file") == (test / "cube/cube_5.off").string());
  const Words rows = lines_of(read_text(table));
  REQUIRE(rows.size() == 7);
  REQUIRE(rows[0] == "file,class,probability,class_2,probability_2,class_3,probability_3,warnings,error");
  const nlohmann::json last = nlohmann::json::parse(lines[5]);
  REQUIRE_THAT(rows[6], Catch::StartsWith(last.at("file").get<std::string>() + "," +
                                          last.at("class").get<std::string>() + "," + last.at("probability").dump()));

  const std::string pattern = (test / "*" / "*_5.*").string();
  REQUIRE(lines_of(shop.run_well({"predict", run, pattern}).out).size() == 3);
  write_text(test / "cube" / "broken_5.off", "OFF\n");
  write_text(test / "sphere" / "empty_5.xyz", "");
  const ProcessResult result = shop.run({"predict", run, pattern, "--csv", table});
  REQUIRE(result.exit == 1);
  REQUIRE(lines_of(result.out).size() == 3);
  const Words with_errors = lines_of(read_text(table));
  REQUIRE(with_errors.size() == 6);
  REQUIRE_THAT(with_errors[1], Catch::StartsWith((test / "cube/broken_5.off").string() + ",,,,,,,,") &&
                                   Catch::Contains("broken_5.off:1: expected") && !Catch::EndsWith(","));
  REQUIRE_THAT(with_errors[2], Catch::Contains("cube_5.off,") && Catch::EndsWith(","));
  for (const char* name : {"a.laz", "b.E57"}) write_text(shop / "scans" / name, "x");
  write_text(shop / "scans/few.xyz", "1 2 3\n2 3 4\nnan 1 1\n0 1 1\n");
  const ProcessResult scans = shop.run({"predict", run, (shop / "scans").string(), "--csv", table, "--json"});
  REQUIRE(scans.exit == 1);
  CHECK_THAT(scans.err, Catch::Contains("a.laz: expected") && Catch::Contains("b.E57: expected"));
  const std::string noted = lines_of(read_text(table)).at(3), dropped = "1 of its 4 points has no finite coordinates";
  CHECK_THAT(noted, Catch::Contains(dropped) && Catch::Contains("; ") && Catch::EndsWith(","));
  const Words objects = lines_of(scans.out);
  REQUIRE(objects.size() == 3);
  CHECK_THAT(nlohmann::json::parse(objects[2]).at("warnings").at(0).get<std::string>(), Catch::StartsWith(dropped));
  const nlohmann::json unread = nlohmann::json::parse(objects[0]);
  CHECK(unread.at("file") == (shop / "scans/a.laz").string());
  CHECK_THAT(unread.at("error").get<std::string>(), Catch::Contains("a.laz: expected"));
  CHECK(unread.size() == 2);
  Words errors = lines_of(result.err);
  std::erase_if(errors, [](const std::string& line) { return line.find(": error: ") == std::string::npos; });
  REQUIRE(errors.size() == 2);
  REQUIRE_THAT(errors[0], Catch::StartsWith("geosft-classify: error: ") && Catch::Contains("broken_5.off"));
  REQUIRE_THAT(errors[1], Catch::Contains("empty_5.xyz"));
  const ProcessResult first = shop.run({"predict", run, pattern, "--fail-fast"});
  REQUIRE(first.exit == 1);
  REQUIRE(first.out.empty());
  REQUIRE_THAT(first.err, Catch::Contains("broken_5.off") && !Catch::Contains("empty_5.xyz"));
  const std::string good = (test / "cube/cube_5.off").string(), begun = (shop / "first.csv").string();
  REQUIRE(shop.run({"predict", run, good, pattern, "--fail-fast", "--csv", begun}).exit == 1);
  CHECK(lines_of(read_text(begun)).size() == 2);
  shop.refuses({"predict", run, (test / "*.ply").string()}, 1, {"*.ply", "no such file"});
  shop.refuses({"predict", run, pattern, "--csv", (shop / "no/table.csv").string()}, 2, {"no folder"});
}

TEST_CASE("degenerate clouds are classified all the same") {
  const ClassifyShop shop;
  write_text(shop / "one.xyz", "1 2 3\n");
  write_text(shop / "equal.xyz", "1 2 3\n1 2 3\n1 2 3\n1 2 3\n1 2 3\n");
  write_text(shop / "line.xyz", "0 0 0\n1 1 1\n2 2 2\n3 3 3\n");
  const Words files = {(shop / "one.xyz").string(), (shop / "equal.xyz").string(), (shop / "line.xyz").string()};
  const Words lines = lines_of(shop.run_well(Words{"predict", shop.trained(), "--json"} + files).out);
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) CHECK(nlohmann::json::parse(line).at("probability").is_number());
}

TEST_CASE("a scan of 10 million points is thinned, and that is said", "[slow]") {
  const ClassifyShop shop;
  write_scan(shop / "scan.ply", 10'000'000);
  const std::string file = (shop / "scan.ply").string();
  const ProcessResult result = shop.run_well({"predict", shop.trained(), file, "--json"});
  CHECK(nlohmann::json::parse(result.out).at("file") == file);
  const Words warnings = lines_of(result.err);
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[0], Catch::StartsWith(file) && Catch::Contains("of its 10000000 points 128"));
  CHECK_THAT(warnings[1], Catch::StartsWith(file) && Catch::Contains("normals"));
}

TEST_CASE("files that hold no shape are refused by predict") {
  const ClassifyShop shop;
  const auto refused = [&](const std::string& name, const std::string& text, const Words& expected) {
    write_text(shop / name, text);
    const std::string file = (shop / name).string();
    shop.refuses({"predict", shop.trained(), file}, 1, Words{file} + expected);
  };
  refused("empty.xyz", "", {"empty file"});
  refused("flat.off", "OFF\n3 1 0\n0 0 0\n1 1 1\n2 2 2\n3 0 1 2\n", {"area"});
  refused("cut.off", cube_off(1.0).substr(0, 60), {"found"});
  refused("shape.step", "x", {".off"});
  write_text(shop / "nan.xyz", "0 0 0\nnan 1 2\n1 1 1\n");
  const std::string nan = (shop / "nan.xyz").string();
  shop.refuses({"predict", shop.trained(), nan, "--drop-invalid=false"}, 1, {nan + ":2", "--drop-invalid"});
  const std::string absent = (shop / "absent.off").string();
  shop.refuses({"predict", shop.trained(), absent}, 1, {absent});
}

TEST_CASE("columns of a table are told by an option where they cannot be told otherwise") {
  const ClassifyShop shop;
  const std::string run = shop.trained(), file = (shop / "scan.xyz").string();
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += std::to_string(i % 7) + " " + std::to_string(i % 5) + " " + std::to_string(i) + " 0 0 -3\n";
  }
  write_text(file, text);
  shop.refuses({"predict", run, file}, 1, {"scan.xyz", "--columns x,y,z,nx,ny,nz"});
  CHECK(shop.run_well({"predict", run, file, "--columns", "x,y,z,nx,ny,nz"}).err.empty());
  CHECK_THAT(shop.run_well({"predict", run, file, "--columns", "x,y,z,r,g,b"}).err, Catch::Contains("no normals"));
  shop.refuses({"predict", run, file, "--columns", "x,y"}, 2, {"--columns", "x, y and z"});
  CHECK_THAT(shop.run_well({"info", file, "--columns", "x,y,z,r,g,b"}).out, Catch::Contains("without normals"));
  const std::string mesh = (shop.data() / "test" / "cube" / "cube_5.off").string();
  for (const Words& words : {Words{"predict", run, mesh}, Words{"info", mesh}}) {
    shop.refuses(words + Words{"--columns", "x,y,z"}, 2, {"--columns", "tables", mesh});
  }
  CHECK_THAT(shop.run_well({"predict", run, mesh, "--estimated-normals"}).err,
             Catch::Contains("its own normals are not used"));
  shop.refuses({"predict", run, file, "--no-drop-invalid", "--columns", "x,y,z"}, 1, {"6"});
}

}  // namespace geosft::test::test_predict_command
