// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/input_files.h"

#include <catch2/catch.hpp>

#include <csignal>

#include "data/data_error.h"
#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"

namespace geosft::test::test_input_files {
namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("names of files are kept, folders and patterns are the shape files in them") {
  const TemporaryFolder folder;
  for (const std::string file : {"b.off", "a.OBJ", "deep/er/c.xyz", "deep/c.mtl", ".d.off", ".e/f.off", "[x].ply"}) {
    write_text(folder / file, "");
  }
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  const InputFiles one = input_shape_files({"absent.off"});
  REQUIRE(one.files == Names{"absent.off"});
  REQUIRE_FALSE(one.several);
  REQUIRE(input_shape_files({"x.off", "x.off"}).files == Names{"x.off", "x.off"});
  const InputFiles all = input_shape_files({folder.path().string()});
  REQUIRE(all.several);
  REQUIRE(all.files == Names{at("[x].ply"), at("a.OBJ"), at("b.off"), at("deep/er/c.xyz")});
  REQUIRE(input_shape_files({at("*.off"), at("?.OBJ")}).files == Names{at("b.off"), at("a.OBJ")});
  REQUIRE(input_shape_files({at("deep/*")}).files == Names{at("deep/er/c.xyz")});
  REQUIRE(input_shape_files({at("b.off"), at("*.o*")}).files == Names{at("b.off")});
  const InputFiles literal = input_shape_files({at("[x].ply")});
  REQUIRE(literal.files == Names{at("[x].ply")});
  REQUIRE_FALSE(literal.several);
}

TEST_CASE("labels of the parts of a mesh are not read as a cloud") {
  const TemporaryFolder folder;
  for (const std::string file : {"1.off", "1_labels.txt", "2_labels.txt"}) write_text(folder / file, "");
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  CHECK(input_shape_files({folder.path().string()}).files == Names{at("1.off"), at("2_labels.txt")});
  CHECK(input_shape_files({at("1_labels.txt")}).files == Names{at("1_labels.txt")});
}

TEST_CASE("the buffers of glTF files are not read as laser scans") {
  const TemporaryFolder folder;
  for (const std::string file : {"a/x.gltf", "a/x.bin", "b/scan.bin"}) write_text(folder / file, "");
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  REQUIRE(input_shape_files({folder.path().string()}).files == Names{at("a/x.gltf"), at("b/scan.bin")});
  REQUIRE(input_shape_files({at("a/*")}).files == Names{at("a/x.gltf")});
  REQUIRE(input_shape_files({at("a/x.bin")}).files == Names{at("a/x.bin")});
}

TEST_CASE("a folder that is one input is kept, wherever it is found") {
  const TemporaryFolder folder;
  for (const std::string file : {"a.mtx", "deep/set/A.mtx", "deep/b.mtx"}) write_text(folder / file, "");
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  const InputKind kind{"*.mtx", [](const std::filesystem::path& file) { return file.extension() == ".mtx"; },
                       [](const std::filesystem::path& path) { return path.filename() == "set"; }};
  REQUIRE(input_files({folder.path().string()}, kind).files == Names{at("a.mtx"), at("deep/b.mtx"), at("deep/set")});
  REQUIRE(input_files({at("deep/set")}, kind).files == Names{at("deep/set")});
  REQUIRE(input_files({at("*/s*"), at("deep")}, kind).files == Names{at("deep/set"), at("deep/b.mtx")});
  require_error([&] { input_files({at("*.off")}, kind); }, {"*.off", "*.mtx", "no such file"});
}

TEST_CASE("texts of words are left out of folders and patterns, with a line that says so") {
  const TemporaryFolder folder;
  const auto at = [&](const std::string& file) { return (folder / file).string(); };
  write_text(folder / "a.xyz", "# scanned\nx y z\n0 0 1\n");
  write_text(folder / "broken.txt", "0,0,1\nand words\n");
  write_text(folder / "empty.txt", "");
  write_text(folder / "notes.txt", "Scans of 3 May\n12 chairs\n");
  write_text(folder / "predicted.csv", "file,class\n/a.xyz,chair\n");
  const CapturedStderr said;
  for (const std::string& given : {folder.path().string(), at("*")}) {
    CHECK(input_shape_files({given}).files == Names{at("a.xyz"), at("broken.txt"), at("empty.txt")});
  }
  CHECK_THAT(said.text(),
             Catch::StartsWith(at("notes.txt") + ": a text without rows of three numbers, left out (and 1 more)\n"));
  CHECK(input_shape_files({at("notes.txt")}).files == Names{at("notes.txt")});
  // A row that is no finite point is a row: the file is read, and its error said.
  write_text(folder / "nan.xyz", "nan nan nan\nnan nan nan\n");
  CHECK(input_shape_files({folder.path().string()}).files.size() == 4);
  write_text(folder / "flat/two.xyz", "1 2\n3 4\n");
  require_error([&] { input_shape_files({at("flat")}); },
                {"texts without rows of three numbers alone, such as " + at("flat/two.xyz")});
}

TEST_CASE("RUN folders are left out of folders and patterns, with a line that says so") {
  const TemporaryFolder folder;
  for (const std::string file : {"a.off", "runs/one/config.toml", "runs/one/metrics.csv", "runs/one/model_1/a.csv"}) {
    write_text(folder / file, "");
  }
  const auto at = [&](const std::string& name) { return (folder / name).string(); };
  const CapturedStderr said;
  CHECK(input_shape_files({folder.path().string()}).files == Names{at("a.off")});
  CHECK(said.text() == at("runs/one") + ": a RUN folder, left out\n");
  // A folder that a pattern matches may hold nothing else; one that is named may not.
  CHECK(input_shape_files({at("*")}).files == Names{at("a.off")});
  require_error([&] { input_shape_files({at("runs")}); }, {"runs", "outside of its RUN folders"});
  write_text(folder / "runs/two/config.toml", "");
  write_text(folder / "runs/b.off", "");
  CHECK(input_shape_files({at("runs/*")}).files == Names{at("runs/b.off")});
  CHECK_THAT(said.text(), Catch::EndsWith("runs/one: a RUN folder, left out (and 1 more)\n"));
  // A RUN folder that is named itself is searched.
  CHECK(input_shape_files({at("runs/one")}).files == Names{at("runs/one/metrics.csv"), at("runs/one/model_1/a.csv")});
}

TEST_CASE("a folder or pattern without a shape file is named") {
  const TemporaryFolder folder;
  write_text(folder / "a.mtl", "");
  require_error([&] { input_shape_files({folder.path().string()}); }, {folder.path().string(), ".ply", "none"});
  require_error([&] { input_shape_files({folder / "*.off"}); }, {"*.off", "no such file"});
  require_error([&] { input_shape_files({folder / "*.mtl"}); }, {"*.mtl", "no such file"});
}

TEST_CASE("a broken file is one line, and the others follow") {
  std::vector<size_t> seen;
  const auto each = [&](size_t i) {
    if (i == 1) throw DataError("b.off", "a shape\nof two lines", "none");
    seen.push_back(i);
  };
  CapturedStderr captured;
  std::vector<std::string> errors;
  const auto failed = [&](size_t i, const std::string& error) { errors.push_back(std::to_string(i) + " " + error); };
  REQUIRE(for_each_file("tool", 3, false, each, failed) == 1);
  REQUIRE(captured.text() == "tool: error: b.off: expected a shape\n");
  REQUIRE(errors == Names{"1 b.off: expected a shape"});
  REQUIRE(seen == std::vector<size_t>{0, 2});
  seen.clear();
  REQUIRE_THROWS_AS(for_each_file("tool", 3, true, each), DataError);
  REQUIRE(seen == std::vector<size_t>{0});
  REQUIRE(for_each_file("tool", 1, false, each) == 0);
}

TEST_CASE("a table of predictions has the rows of each file, or its error") {
  const TemporaryFolder folder;
  const std::string csv = (folder / "p.csv").string();
  PredictionTable table(csv, {"file", "class"});
  const Names files = {"a.off", "b.off", "c.off"};
  const auto each = [&](size_t i) {
    if (i == 1) throw DataError("b.off", "a shape", "x");
    table.add({files[i], "mug"});
  };
  CapturedStderr captured;
  REQUIRE(table.predict("tool", files, false, each) == 1);
  CHECK(read_text(csv) == "file,class,error\na.off,mug,\nb.off,,\"b.off: expected a shape, found x\"\nc.off,mug,\n");
  PredictionTable stopped(csv, {"file", "class"});
  const auto stops = [&](size_t i) {
    if (i == 2) throw Interrupted("in the middle");
    stopped.add({files[i], "mug"});
  };
  CHECK_THROWS_WITH(stopped.predict("tool", files, false, stops),
                    "in the middle: 2 of 3 files are done, and in " + csv);
  CHECK(read_text(csv) == "file,class,error\na.off,mug,\nb.off,mug,\n");
  PredictionTable of_set("", {"file", "class"}, "cloud");
  const auto signals = [&](size_t i) {
    if (i == 1) std::raise(SIGINT);
  };
  install_interrupt_handler();
  CHECK_THROWS_WITH(of_set.predict("tool", files, false, signals), "between two clouds: 2 of 3 clouds are done");
  clear_interrupt();
  PredictionTable unread(csv, {"file", "class"});
  const auto fails = [&](size_t i) {
    if (i == 1) throw std::ios_base::failure("standard output is closed");
    unread.add({files[i], "cup"});
  };
  CHECK_THROWS_AS(unread.predict("tool", files, false, fails), std::ios_base::failure);
  CHECK(read_text(csv) == "file,class,error\na.off,cup,\n");
  PredictionTable none("", {"file"});
  CHECK_FALSE(none.requested());
  none.add({"a.off"});
  REQUIRE(none.predict("tool", {}, false, [](size_t) {}) == 0);
}

TEST_CASE("notes on several files are printed once, with the number of the other files") {
  const CapturedStderr captured;
  FileNotes notes;
  notes.add("a.ply", {"a.ply: has no normals", "a.ply: of its 8000 points 4096 are used"});
  notes.add("b.ply", {"b.ply: has no normals", "b.ply: of its 9000 points 4096 are used"});
  notes.add("c.ply", {"c.ply: has no normals", "c.ply: something else"});
  notes.finish();
  REQUIRE(captured.text() ==
          "a.ply: has no normals\na.ply: of its 8000 points 4096 are used\nc.ply: something else\n"
          "2 more files, each: has no normals\n1 more file: of its 9000 points 4096 are used\n");
}

TEST_CASE("the line on the others calls them what they are") {
  const CapturedStderr captured;
  FileNotes notes;
  for (const std::string name : {"Mug/a", "Mug/b", "Mug/c"}) notes.add(name, {name + ": has no normals"});
  notes.finish("cloud");
  REQUIRE(captured.text() == "Mug/a: has no normals\n2 more clouds, each: has no normals\n");
}

TEST_CASE("the line on the other files has the range of their numbers, not those of the first") {
  const CapturedStderr captured;
  FileNotes notes;
  for (const std::string count : {"4187", "10000", "4568", "4275"}) {
    const std::string file = count + ".ply";
    notes.add(file, {file + ": of its " + count + " points 4096 are used", file + ": 0." + count + " m wide, in a.0"});
  }
  notes.finish();
  REQUIRE(captured.text() ==
          "4187.ply: of its 4187 points 4096 are used\n4187.ply: 0.4187 m wide, in a.0\n"
          "3 more files, each: 0.10000 to 0.4568 m wide, in a.0\n"
          "3 more files, each: of its 4275 to 10000 points 4096 are used\n");
}

TEST_CASE("columns are for tables: of other files alone they are refused, of some they are said") {
  FileOptions options;
  CHECK(options.columns_note({"a.ply"}).empty());
  options.columns = "x,y,z";
  CHECK(options.columns_note({"a.xyz", "b.npy", "c.csv.gz"}).empty());
  CHECK_THAT(options.columns_note({"a.xyz", "b.ply", "c.off"}),
             Catch::EndsWith("which 2 of 3 files are not, such as b.ply"));
  CHECK_THROWS_AS(options.columns_note({"a.ply", "b.pcd"}), UsageError);
}

TEST_CASE("fields of a CSV line are quoted where they must be") {
  REQUIRE(csv_line({"a", "b c", "1.5", ""}) == "a,b c,1.5,\n");
  REQUIRE(csv_line({"a,b", "say \"x\"", "two\nlines"}) == "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

}  // namespace geosft::test::test_input_files
