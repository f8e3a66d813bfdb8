// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/output_files.h"

#include <sys/stat.h>
#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_output_files {
namespace fs = std::filesystem;

TEST_CASE("one file leaves what an option names, several leave files of their names in a folder") {
  const TemporaryFolder folder;
  CHECK_FALSE(OutputFiles("--ply", "", {"a.obj", "b.obj"}, ".ply").requested());
  const OutputFiles one("--ply", folder / "x.ply", {"a.obj"}, ".ply");
  REQUIRE(one.requested());
  CHECK(one[0] == folder / "x.ply");
  CHECK(OutputFiles("--ply", folder / "of_folder", {"a.obj"}, ".ply", /*several=*/true)[0] ==
        fs::path(folder / "of_folder") / "a.ply");
  require_error([&] { OutputFiles("--ply", folder / "no/x.ply", {"a.obj"}, ".ply"); }, {"--ply: there is no folder"});
  write_text(folder / "run/config.toml", "seed = 1\n");
  require_error([&] { OutputFiles("--ply", folder / "run/best.ckpt", {"a.obj"}, ".ply"); },
                {"--ply: ", "is a file of the RUN itself"});
  const OutputFiles two("--ply", folder / "out/parts", {"some/a.b.obj", "c.xyz"}, ".ply");
  CHECK(fs::is_directory(folder / "out/parts"));
  CHECK(two[0] == fs::path(folder / "out/parts") / "a.b.ply");
  CHECK(two[1] == fs::path(folder / "out/parts") / "c.ply");
}

TEST_CASE("files of one name in several folders leave theirs in folders of the same names") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  const OutputFiles mirrored("--ply", out.string(), {"scans/x/a.obj", "scans/b.obj", "scans/y/z/a.off"}, ".ply");
  CHECK(mirrored[0] == out / "x/a.ply");
  CHECK(mirrored[1] == out / "b.ply");
  CHECK(mirrored[2] == out / "y/z/a.ply");
  CHECK(fs::is_directory(out / "y/z"));
  const OutputFiles beside("--ply", out.string(), {"x/a.obj", "x/a.off", "x/b.off"}, ".ply");
  CHECK(beside[0] == out / "a.obj.ply");
  CHECK(beside[1] == out / "a.off.ply");
  CHECK(beside[2] == out / "b.ply");
  const OutputFiles above("--ply", out.string(), {"../p/a.obj", "/q/a.obj"}, ".ply");
  CHECK(above[1] == out / "q/a.ply");
}

TEST_CASE("clouds of a set leave files of their names, with a dot or not, in the folders of these") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  const OutputFiles set("--labels", out.string(), {"Mug/train0.v1", "Lamp/train0.v2", "test:0"}, ".txt", true, true);
  CHECK(set[0] == out / "Mug/train0.v1.txt");
  CHECK(set[1] == out / "Lamp/train0.v2.txt");
  CHECK(set[2] == out / "test:0.txt");
  CHECK(fs::is_directory(out / "Lamp"));
  const OutputFiles one("--labels", out.string(), {"Mug/a"}, ".txt", true, true);
  CHECK(one[0] == out / "Mug/a.txt");
  CHECK_FALSE(OutputFiles("--labels", "", {"Mug/a"}, ".txt", true, true).requested());
}

TEST_CASE("a file can be written where its folder is") {
  const TemporaryFolder folder;
  CHECK(unwritable(folder / "x.png").empty());
  CHECK(unwritable("x.png").empty());
  CHECK_THAT(unwritable(folder / "no/x.png"), Catch::Contains("no folder") && Catch::Contains("no/x.png"));
  write_text(folder / "file", "no folder");
  CHECK_THAT(unwritable(folder / "file/x.png"), Catch::Contains("no folder"));
  CHECK_THAT(unwritable("-"), Catch::Contains("standard output"));
}

TEST_CASE("a link can be written where it leads to, and a pipe is written to") {
  const TemporaryFolder folder;
  fs::create_symlink("no/x.csv", folder / "link");
  CHECK_THAT(unwritable(folder / "link"), Catch::Contains("no folder"));
  fs::create_directory(folder / "no");
  CHECK(unwritable(folder / "link").empty());
  fs::create_symlink("link", folder / "first");
  CHECK(fs::equivalent(linked_file(folder / "first").parent_path(), folder / "no"));
  CHECK(linked_file(folder / "first").filename() == "x.csv");
  fs::create_symlink("circle", folder / "circle");
  CHECK(linked_file(folder / "circle").filename() == "circle");
  CHECK(OutputFiles("--ply", folder / "first", {"a.obj"}, ".ply")[0].filename() == "x.csv");
  std::string given;
  CLI::App app;
  as_output_file(app.add_option("--out", given));
  app.parse("--out " + (folder / "first").string());
  CHECK(fs::path(given).filename() == "x.csv");
  CHECK_THAT(unwritable("/proc/self/status"), Catch::Contains("not a file of its own"));
  if (fs::is_directory("/dev/shm")) CHECK(unwritable("/dev/shm/geosft.csv").empty());
  fs::create_directory(folder / "run");
  write_text(folder / "run/config.toml", "seed = 1\n");
  fs::create_symlink(folder / "no/x.csv", folder / "run/best.ckpt");
  fs::create_symlink("run/config.toml", folder / "config");
  for (const char* name : {"run/best.ckpt", "config"}) {
    CHECK_THAT(unwritable(folder / name), Catch::Contains("of the RUN itself"));
  }
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(unwritable(folder / "pipe").empty());
}

TEST_CASE("no output replaces what a RUN consists of") {
  const TemporaryFolder folder;
  CHECK(unwritable(folder / "config.toml").empty());
  write_text(folder / "config.toml", "seed = 1\n");
  for (const char* name : {"config.toml", "split.csv", "result.json", "best.ckpt", "kernel.ckpt"}) {
    CHECK_THAT(unwritable(folder / name), Catch::Contains("of the RUN itself") && Catch::Contains(name));
  }
  for (const char* name : {"predicted.csv", "report.html"}) CHECK(unwritable(folder / name).empty());
}

TEST_CASE("no output replaces another one or what is read") {
  const TemporaryFolder folder;
  write_text(folder / "a.ply", "a cloud");
  const auto refused = [&](const std::string& option_value, const std::vector<std::string>& files,
                           const std::vector<std::string>& words) {
    CHECK_THROWS_AS(OutputFiles("--ply", option_value, files, ".ply"), UsageError);
    require_error([&] { OutputFiles("--ply", option_value, files, ".ply"); }, words);
  };
  refused(folder / "out", {"x/a.obj", "b.obj", "x/a.obj"}, {"--ply", "x/a.obj", "a.obj.ply"});
  CHECK_FALSE(fs::exists(folder / "out"));
  refused(folder.path().string(), {folder / "a.ply", "b.obj"}, {"--ply", "a.ply", "another folder"});
  refused(folder / "a.ply", {"b.obj", "c.obj"}, {"--ply", "a.ply", "folder"});
  refused(folder / "./a.ply", {folder / "a.ply"}, {"--ply", "a.ply", "another file"});
}

TEST_CASE("an output file of the command line is none of its arguments, nor a file of a folder among them") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return folder / name; };
  for (const char* name : {"table.csv", "set/set_A.txt", "set/old.png", "run/config.toml", "run/predictions.csv"}) {
    fs::create_directories(fs::path(path(name)).parent_path());
    write_text(path(name), "as before");
  }
  fs::create_symlink(path("table.csv"), path("link.csv"));
  const auto parse = [](const std::string& data, const std::string& file, const std::string& out) {
    CLI::App app;
    std::string csv, from;
    std::vector<std::string> files;
    CLI::App* const predict = app.add_subcommand("predict");
    as_output_file(predict->add_option("--csv", csv));
    predict->add_option("--data", from);
    predict->add_option("FILE", files);
    const std::vector<const char*> words = {"tool",  "predict",   "RUN",    file.c_str(),
                                            "--csv", out.c_str(), "--data", data.c_str()};
    std::ostringstream help;
    const bool parsed = parse_arguments(app, static_cast<int>(words.size()), words.data(), help);
    REQUIRE(parsed);
  };
  const auto refused = [&](const std::string& data, const std::string& file, const std::string& out,
                           const std::string& word) {
    CHECK_THROWS_AS(parse(data, file, out), UsageError);
    require_error([&] { parse(data, file, out); }, {"--csv: " + out, word, "name another file"});
  };
  refused("-", path("table.csv"), path("table.csv"), "read");
  refused("-", path("table.csv"), path("./set/../table.csv"), "read");
  const std::string table = path("table.csv");
  require_error([&] { parse("-", table, path("link.csv")); }, {"--csv: " + table, "read"});
  refused(path("link.csv"), "x.csv", path("table.csv"), "read");
  refused(path("set"), "x.csv", path("set/set_A.txt"), path("set"));
  refused("-", folder.path().string(), path("set/set_A.txt"), folder.path().string());
  parse("-", path("table.csv"), path("other.csv"));
  parse(path("set"), path("table.csv"), path("set/new.txt"));
  parse(path("set"), path("table.csv"), path("set/old.png"));
  parse(path("run"), path("table.csv"), path("run/predictions.csv"));
  parse("-", path("table.csv"), "/dev/null");
}

}  // namespace geosft::test::test_output_files
