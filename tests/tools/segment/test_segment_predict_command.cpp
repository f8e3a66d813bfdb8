// SPDX-License-Identifier: Apache-2.0
// geosft-segment predict, end to end.
#include <catch2/catch.hpp>

#include "data/formats/shape_file.h"
#include "tests/data/points/utm_chair.h"
#include "tests/places.h"
#include "tests/support.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/scan_file.h"
#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_predict_command {
namespace {

std::string line_of_points(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i * 0.01) + " " + std::to_string(i % 7 * 0.05) + " 0.5 0 0 1\n";
  }
  return text;
}

}  // namespace

TEST_CASE("parts of a file are printed, and written for viewers and programs") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(90));
  const std::string ply = (shop / "out.ply").string(), labels = (shop / "out.txt").string();
  const ProcessResult result =
      shop.run_well({"predict", run, cloud, "--category", "mug", "--ply", ply, "--labels", labels, "--json"});
  const nlohmann::json json = nlohmann::json::parse(result.out);
  CHECK(json.at("file") == cloud);
  CHECK(json.at("points") == 90);
  int64_t total = 0;
  for (const auto& part : json.at("parts")) {
    CHECK_THAT(part.at("part").get<std::string>(), Catch::StartsWith("mug/"));
    total += part.at("points").get<int64_t>();
  }
  CHECK(total == 90);
  const Words lines = lines_of(read_text(labels));
  REQUIRE(lines.size() == 90);
  CHECK(std::all_of(lines.begin(), lines.end(), [](const std::string& line) { return line == "3" || line == "4"; }));
  const std::string bytes = read_text(ply);
  CHECK_THAT(bytes, Catch::Contains("property uchar red\n") && Catch::Contains("property int part\n"));
  const FileShape shape = read_ply(bytes, ply);
  REQUIRE(shape.mesh.vertices.size(0) == 90);
  const size_t row = bytes.find("end_header\n") + 11;
  for (size_t i = 0; i < 90; ++i) {
    CHECK(shape.mesh.vertices[static_cast<int64_t>(i)][0].item<double>() == Approx(0.01 * static_cast<double>(i)));
    CHECK(bytes.substr(row + 31 * i + 27, 4) == raw<int32_t>(std::stoi(lines[i])));
  }
  require_equal(shape.normals, at::tensor({0.0F, 0.0F, 1.0F}).expand({90, 3}), "normals");
  const std::string picture = (shop / "parts").string();
  shop.refuses({"predict", run, cloud, "--category", "Lamp"}, 2,
               {"unknown class 'Lamp'", "the nearest known is 'lamp'"});
  const Words drawn = {"predict", run, cloud, "--category", "lamp", "--picture"};
  if (has_gnuplot()) {
    const ProcessResult text = shop.run_well(drawn + Words{picture});
    REQUIRE(lines_of(text.out).size() == 1);
    CHECK_THAT(text.out, Catch::StartsWith(cloud + ": 90 points:  lamp/") && Catch::EndsWith(" %\n"));
  } else {
    shop.require_failure(shop.run(drawn + Words{picture}), 1, {"no picture: gnuplot"});
  }
  std::filesystem::create_directory(shop / "full.png");  // where the picture should be
  shop.require_failure(shop.run(drawn + Words{(shop / "full").string()}), 1,
                       {"error: no picture: ", has_gnuplot() ? "full.png" : "gnuplot"});
  CHECK(std::filesystem::exists(picture + ".png") == has_gnuplot());
}

TEST_CASE("a labelled cloud repeats the coordinates of its file, in their precision") {
  const SegmentShop shop;
  const std::string run = shop.trained(), ply = (shop / "out.ply").string();
  for (const std::string format : {"xyz", "ply"}) {
    const std::string cloud = (shop / ("chair." + format)).string();
    write_text(cloud, double_cloud_text(format, utm_chair(90)));
    shop.run_well({"predict", run, cloud, "--category", "mug", "--ply", ply});
    const std::string bytes = read_text(ply);
    CHECK_THAT(bytes, Catch::Contains("property double x\n") && !Catch::Contains(" nx\n"));
    require_equal(read_ply(bytes, ply).mesh.vertices, utm_chair(90), "coordinates");
  }
}

TEST_CASE("geosft-segment predicts a folder, and goes on after a broken file") {
  const SegmentShop shop;
  const std::string run = shop.trained(), table = (shop / "table.csv").string();
  const std::filesystem::path scans = shop / "scans";
  write_text(scans / "a.xyz", line_of_points(30));
  write_text(scans / "b.off", "OFF\n");
  write_text(scans / "deep" / "c, d.xyz", line_of_points(40));
  const Words words = {"predict", run, scans.string(), "--category", "mug", "--json", "--csv", table};
  const ProcessResult result = shop.run(words);
  REQUIRE(result.exit == 1);
  REQUIRE_THAT(result.err, Catch::Contains("geosft-segment: error: " + (scans / "b.off").string()));
  const Words lines = lines_of(result.out);
  REQUIRE(lines.size() == 3);
  CHECK(nlohmann::json::parse(lines[1]).at("file") == (scans / "b.off").string());
  CHECK_THAT(nlohmann::json::parse(lines[1]).at("error").get<std::string>(), Catch::Contains("b.off:"));
  std::string expected = "file,part_id,label,part,points,share,warnings,error\n";
  const auto add_rows = [&](const nlohmann::json& json) {
    for (const auto& part : json.at("parts")) {
      const std::string file = json.at("file"), quote = file.find(',') == std::string::npos ? "" : "\"";
      std::string warnings;
      for (const std::string warning : json.at("warnings")) warnings += (warnings.empty() ? "" : "; ") + warning;
      const double share = part.at("points").get<double>() / json.at("points").get<double>();
      expected += quote + file + quote + "," + part.at("id").dump() + "," + part.at("label").dump() + "," +
                  part.at("part").get<std::string>() + "," + part.at("points").dump() + "," +
                  nlohmann::json(share).dump() + "," + warnings + ",\n";
    }
  };
  add_rows(nlohmann::json::parse(lines[0]));
  expected += (scans / "b.off").string() + ",,,,,,,";
  const std::string rows = read_text(table);
  REQUIRE_THAT(rows, Catch::StartsWith(expected));
  const std::string error = rows.substr(expected.size(), rows.find('\n', expected.size()) + 1 - expected.size());
  REQUIRE_THAT(error, Catch::Contains("b.off:") && Catch::Contains("expected"));
  expected += error;
  add_rows(nlohmann::json::parse(lines[2]));
  REQUIRE(rows == expected);
  const ProcessResult first = shop.run(words + Words{"--fail-fast"});
  REQUIRE(first.exit == 1);
  REQUIRE(lines_of(first.out).size() == 1);
}

TEST_CASE("every one of several files gets its own outputs, and a mesh keeps its vertices and faces") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "in/cloud.xyz").string();
  const std::string mesh = (shop / "in/cube.off").string();
  write_text(cloud, line_of_points(90));
  write_text(mesh, cube_off(1.0));
  const ProcessResult result = shop.run_well({"predict", run, cloud, mesh, "--category", "mug", "--json", "--ply",
                                              (shop / "ply").string(), "--labels", (shop / "labels").string()});
  const Words printed = lines_of(result.out);
  REQUIRE(printed.size() == 2);
  CHECK(nlohmann::json::parse(printed[0]).at("points") == 90);
  CHECK(nlohmann::json::parse(printed[1]).at("points") == 4096);
  CHECK_THAT(result.err, Catch::Contains("cube.off: a mesh, of which 4096 points are sampled"));
  const auto ply = [&](const std::string& name) { return read_ply(read_text(shop / "ply" / name), name); };
  CHECK(ply("cloud.ply").mesh.vertices.size(0) == 90);
  CHECK_FALSE(ply("cloud.ply").is_mesh());
  const Mesh read = read_off(read_text(mesh), mesh).mesh, written = ply("cube.ply").mesh;
  require_close(written.vertices, read.vertices, 1e-6, "vertices");
  require_equal(written.faces, read.faces, "faces");
  CHECK_THAT(read_text(shop / "ply" / "cube.ply"), Catch::Contains("property int part\n"));
  CHECK(lines_of(read_text(shop / "labels" / "cloud.txt")).size() == 90);
  CHECK(lines_of(read_text(shop / "labels" / "cube.txt")).size() == 8);
}

TEST_CASE("a cloud is labelled in blocks, each point once") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(900));
  const Words common = {"predict", run, cloud, "--category", "mug", "--labels", (shop / "out.txt").string()};
  for (const Words& block : {Words{"--block", "64"}, Words{"--block", "64", "--block-kind", "near"}}) {
    shop.run_well(common + block);
    CHECK(lines_of(read_text(shop / "out.txt")).size() == 900);
  }
}

TEST_CASE("predict of files has no line of progress for each of them where standard error is no terminal") {
  const SegmentShop shop;
  const std::string run = shop.trained(), one = (shop / "one.xyz").string(), two = (shop / "two.xyz").string();
  for (const std::string& cloud : {one, two}) write_text(cloud, line_of_points(90));
  const ProcessResult result =
      shop.run_well({"predict", run, one, two, "--category", "mug", "--block", "16", "--votes", "3"});
  CHECK(lines_of(result.out).size() == 2);
  CHECK_THAT(result.err, !Catch::Contains("predicting"));
}

// Address space that a sanitizer reserves would count, too.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("in blocks a cloud twice as large takes little more memory, where at once there is too little", "[slow]") {
  const SegmentShop shop;
  const std::string run = (shop / "run").string();
  shop.run_well(shop.train("run", {"--epochs", "1"}) + Words{"--no-normals", "--dim", "64"});
  ProcessOptions little = shop.process();
  little.memory = rlim_t{900} << 20;  // half of it or more are libraries: at once 200,000 points take 600 MB on top
  const auto predict = [&](int64_t points, const Words& words) {
    const std::filesystem::path scan = shop / (std::to_string(points) + ".ply");
    if (!std::filesystem::exists(scan)) write_scan(scan, points);
    const Words common = {"predict", run, scan.string(), "--category", "mug", "--json"};
    return run_process(program_path("geosft-segment"), common + words, little);
  };
  for (const char* kind : {"spread", "near"}) {
    for (const int64_t points : {200'000, 400'000}) {
      const ProcessResult result = predict(points, {"--block", "512", "--block-kind", kind});
      INFO(result.err);
      REQUIRE(result.exit == 0);
      CHECK(nlohmann::json::parse(result.out).at("points") == points);
    }
  }
  shop.require_failure(predict(400'000, {"--block", "0"}), 1, {"out of memory", "--block"});
}
#endif

TEST_CASE("predict warns of a class without a shape in the training, and of neighbours as blocks") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(20));
  const auto said = [&](const Words& more) {
    return shop.run_well(Words{"predict", run, cloud, "--category", "mug"} + more).err;
  };
  const std::string unlearned = "--category mug: the model was trained on no shape of this class\n";
  CHECK_THAT(said({}), !Catch::Contains(unlearned) && !Catch::Contains("near"));
  CHECK_THAT(said({"--block", "10", "--block-kind", "near"}), Catch::Contains("may be wrong about neighbours"));
  CHECK_THAT(said({"--block", "20", "--block-kind", "near"}), !Catch::Contains("neighbours"));
  std::string rows = read_text(run + "/split.csv"), earlier;
  for (size_t at = rows.find(",mug\n"); at != std::string::npos; at = rows.find(",mug\n"))
    rows.replace(at, 5, ",lamp\n");
  write_text(run + "/split.csv", rows);
  CHECK_THAT(said({}), Catch::Contains(unlearned));
  const std::string of_set = shop.run_well({"predict", run, "--data", shop.data().string()}).err;
  const std::string once = "class mug: the model was trained on no shape of this class\n";
  REQUIRE_THAT(of_set, Catch::Contains(once) && !Catch::Contains("class lamp"));
  CHECK(of_set.find(once) == of_set.rfind(once));
  const std::string of_other =
      shop.run_well({"predict", run, "--data", shop.data().string(), "--split", "test", "--other-data"}).err;
  CHECK_THAT(of_other, Catch::Contains(once) && !Catch::Contains("class lamp"));
  for (const std::string& line : lines_of(rows)) earlier += line.substr(0, line.rfind(',')) + "\n";
  write_text(run + "/split.csv", earlier);  // without labels
  CHECK_THAT(said({}), !Catch::Contains(unlearned));
  write_text(run + "/split.csv", "no table\n");
  CHECK_THAT(said({}), !Catch::Contains(unlearned));
}

TEST_CASE("predict of parts takes the clouds of a set, each with its own class, and eval measures the same parts") {
  const SegmentShop shop;
  const std::string run = shop.trained(), data = shop.data().string(), table = (shop / "table.csv").string();
  const Words test = {"predict", run, "--data", data, "--split", "test", "--json"};
  const ProcessResult result = shop.run_well(
      test + Words{"--csv", table, "--labels", (shop / "labels").string(), "--ply", (shop / "ply").string()});
  const PartClouds clouds(4, 64, 5);
  const Words lines = lines_of(result.out), rows = lines_of(read_text(table));
  REQUIRE(lines.size() == 4);
  int64_t right = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const std::string name = "ply_data_test0:" + std::to_string(i);
    const nlohmann::json json = nlohmann::json::parse(lines[static_cast<size_t>(i)]);
    CHECK(json.at("file") == name);
    CHECK(json.at("points") == 64);
    for (const auto& part : json.at("parts")) {
      CHECK_THAT(part.at("part").get<std::string>(), Catch::StartsWith(i % 2 == 0 ? "lamp/" : "mug/"));
    }
    CHECK(std::any_of(rows.begin(), rows.end(), [&](const std::string& row) { return row.starts_with(name + ","); }));
    const Words labels = lines_of(read_text(shop / "labels" / (name + ".txt")));
    REQUIRE(labels.size() == 64);
    for (int64_t point = 0; point < 64; ++point) {
      right += std::stoll(labels[static_cast<size_t>(point)]) == clouds.parts[i][point].item<int64_t>() ? 1 : 0;
    }
    const FileShape written = read_ply(read_text(shop / "ply" / (name + ".ply")), name);
    require_close(written.mesh.vertices, clouds.points[i].to(at::kDouble), 1e-6, "points");
    require_close(written.normals, clouds.normals[i], 1e-6, "normals");
  }
  const nlohmann::json metrics = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out).at("metrics");
  CHECK(metrics.at("accuracy").get<double>() == Approx(static_cast<double>(right) / 256));

  const auto names = [&](const Words& words) {
    Words found;
    for (const std::string& line : lines_of(shop.run_well(words + Words{"--json"}).out)) {
      found.push_back(nlohmann::json::parse(line).at("file"));
    }
    return found;
  };
  const Words all = names({"predict", run, "--data", data});
  REQUIRE(all.size() == 12);
  CHECK((all.front() == "ply_data_train0:0" && all.back() == "ply_data_test0:3"));
  CHECK(names({"predict", run, "--data", data, "--split", "train"}).size() == 8);

  // A set with some of the classes, and without a split to train with.
  std::map<std::string, at::Tensor> mugs = PartClouds(2, 48, 7).arrays();
  mugs["pid"] = (mugs.at("data").select(2, 2) < 0).to(at::kByte);
  mugs["label"] = at::zeros({2, 1}, at::kByte);
  write_text(shop / "mugs/shape_names.txt", "mug\n");
  write_text(shop / "mugs/parts.txt", "0 mug base\n1 mug cup\n");
  write_hdf5(shop / "mugs/ply_data_test0.h5", mugs);
  const Words of_mugs = {"predict", run, "--data", (shop / "mugs").string()};
  for (const std::string& line : lines_of(shop.run_well(of_mugs).out)) {
    CHECK_THAT(line, Catch::Contains(": 48 points:  mug/") && !Catch::Contains("lamp/"));
  }
  shop.require_failure(shop.run(of_mugs + Words{"--split", "test"}), 1, {"2 items in place of 4", "--other-data"});
  CHECK(names(of_mugs + Words{"--split", "test", "--other-data"}) == Words{"ply_data_test0:0", "ply_data_test0:1"});
  const std::string printed = shop.run_well(of_mugs).out;
  mugs.erase("pid");  // what nobody has labelled
  write_hdf5(shop / "mugs/ply_data_test0.h5", mugs);
  const ProcessResult bare = shop.run_well(of_mugs + Words{"--block", "16"});
  CHECK(lines_of(bare.out).size() == 2);
  CHECK_THAT(bare.err,
             !Catch::Contains("pid") && Catch::Contains("predicting 100 %  2/2") && !Catch::Contains("48/48"));
  CHECK(shop.run_well(of_mugs).out == printed);
  shop.require_failure(shop.run({"eval", run, "--other-data", "--data", (shop / "mugs").string()}), 1,
                       {"mugs: expected an array pid"});
  write_text(shop / "mugs/train_files.txt", "ply_data_test0.h5\n");
  const ProcessResult twice = shop.run_well(of_mugs);
  CHECK(lines_of(twice.out).size() == 2);
  CHECK_THAT(twice.err, Catch::Contains("mugs: 2 of its clouds have the name of another one, and are left out\n"));
}

TEST_CASE("predict of parts takes either files or a set") {
  const SegmentShop shop;
  const std::string run = shop.trained(), data = shop.data().string(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(20));
  const Words of_set = {"predict", run, "--data", data}, of_file = {"predict", run, cloud, "--category", "mug"};
  shop.refuses(of_set + Words{"--category", "mug"}, 2, {"either --category or --data"});
  shop.refuses(of_set + Words{cloud}, 2, {"either FILE or --data"});
  shop.refuses(of_set + Words{"--epoch", "3"}, 2, {"unknown option '--epoch'"});
  shop.refuses({"predict", run, "--data", "--epoch", "3"}, 2, {"--data: expected a value", "'--epoch'"});
  shop.refuses(of_set + Words{"--drop-invalid"}, 2, {"--drop-invalid is for files of points, not for " + data});
  shop.refuses(of_file + Words{"--split", "test"}, 2, {"--split is about a dataset", "--data"});
  shop.refuses(of_file + Words{"--other-data"}, 2, {"--other-data is about a dataset", "--data"});
  shop.refuses({"predict", run}, 2, {"FILE is required", "after the RUN"});
  shop.refuses({"predict", run, "--data", (shop / "none").string()}, 1, {"none", "a folder of shapes with parts"});
  shop.refuses(of_set + Words{"--split", "validation"}, 1, {"clouds of the validation split"});
}

TEST_CASE("help of predict of parts is true of files and of a set") {
  const SegmentShop shop;
  const std::string help = shop.run_well({"predict", "--help"}).out;
  CHECK_THAT(help, Catch::Contains("[FILE...]") && !Catch::Contains("FILE TEXT ... REQUIRED"));
  for (const char* said : {"with --data: as in training)", "(default; with --data: as in training",
                           "the split to predict, as in split.csv; all: every split", "a --split by name"}) {
    CHECK_THAT(help, Catch::Contains(said));
  }
}

TEST_CASE("predict of parts tells what it leaves out of the clouds of a set") {
  const SegmentShop shop;
  const std::filesystem::path data = shop / "text";
  write_shapenet_text(data);
  const std::string run = (shop / "of_text").string();
  shop.run_well(shop.train("of_text", {"--data", data.string(), "--epochs", "1"}));
  write_text(data / "03797390/m2.txt", labelled_lines(4, 36) + "inf 0 0 0 0 1 36\n");
  const Words of_set = {"predict", run, "--data", data.string(), "--split", "test", "--json"};
  const nlohmann::json json = nlohmann::json::parse(shop.run_well(of_set + Words{"--drop-invalid"}).out);
  const std::string left_out = "1 of its 5 points has no finite coordinates, and is left out";
  const std::vector<std::string> warnings = json.at("warnings");
  CHECK(std::find(warnings.begin(), warnings.end(), left_out) != warnings.end());
}

TEST_CASE("predict of parts names what is wrong") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(20));
  shop.refuses({"predict", run, cloud}, 2, {"--category is required", "lamp mug"});
  shop.refuses({"predict", run, cloud, "--category", "sofa"}, 2, {"sofa", "lamp mug"});
  shop.refuses({"predict", run, cloud, "--category", "mug", "--block-kind", "far"}, 2, {"near"});
  shop.refuses({"predict", run, cloud, cloud, "--category", "mug", "--ply", (shop / "out").string()}, 2,
               {"--ply", "cloud.xyz", "would both leave"});
  shop.refuses({"predict", run, (shop / "none.ply").string(), "--category", "mug"}, 1, {"none.ply"});
}

}  // namespace geosft::test::test_segment_predict_command
