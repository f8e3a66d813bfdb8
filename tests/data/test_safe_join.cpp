// SPDX-License-Identifier: Apache-2.0
#include "data/safe_join.h"

#include <catch2/catch.hpp>

#include "data/graphs/graph_dataset.h"
#include "data/points/part_dataset.h"
#include "data/points/point_dataset.h"
#include "data/sequences/sequence_dataset.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_safe_join {

namespace fs = std::filesystem;

TEST_CASE("names of a list stay in its folder") {
  CHECK(safe_join("/data", "a/b.txt", "list.txt") == "/data/a/b.txt");
  CHECK(safe_join("/data", "a..b/..c", "list.txt") == "/data/a..b/..c");
  CHECK(safe_join("/data", "a\\b\\c.txt", "list.txt") == "/data/a/b/c.txt");
  for (const char* name : {"", "C:\\x", "..\\x", "\\x", "/etc/passwd", "..", "../x", "a/../../x", "a/.."}) {
    require_error([&] { safe_join("/data", name, "list.txt"); },
                  {"list.txt: expected names of files in its folder", "found \"" + std::string(name) + "\""});
  }
}

TEST_CASE("links may lead about in their folder, and not out of it") {
  const TemporaryFolder outside, folder;
  write_text(outside / "x", "");
  write_text(folder / "data/deep/a", "");
  fs::create_symlink("a", folder / "data/deep/b");
  fs::create_symlink("../deep", folder / "data/deep/round");
  fs::create_symlink("nothing", folder / "data/deep/dangling");
  fs::create_directory_symlink(folder / "data", folder / "named");
  check_links(folder / "data");
  check_links(folder / "named");  // the folder itself may be a link
  check_links(folder / "absent");
  for (const fs::path& target : {outside / "x", outside.path(), fs::path("../..")}) {
    fs::create_symlink(target, folder / "data/deep/out");
    require_error([&] { check_links(folder / "named"); },
                  {"deep/out: expected a link that stays in", fs::canonical(folder / "data").string(), "found one to"});
    fs::remove(folder / "data/deep/out");
  }
  fs::create_symlink(folder / "data2", folder / "data/deep/out");  // its name only begins as that of the folder does
  write_text(folder / "data2", "");
  require_error([&] { check_links(folder / "data"); }, {"deep/out", "data2"});
}

TEST_CASE("no dataset is opened through links out of its folder") {
  const TemporaryFolder outside, folder;
  write_text(outside / "a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  write_text(folder / "chair/b.off", read_text(outside / "a.off"));
  fs::create_symlink(outside / "a.off", folder / "chair/a.off");
  const std::vector<std::string> words = {"chair/a.off", "a link that stays in", outside.path().string()};
  require_error([&] { open_point_dataset(folder.path(), Split::train); }, words);
  require_error([&] { open_part_dataset(folder.path(), PartSplit::train); }, words);
  require_error([&] { open_graph_dataset(folder.path()); }, words);
  require_error([&] { open_sequence_dataset(folder.path()); }, words);
}

TEST_CASE("a name that is too long names nothing") {
  CHECK_FALSE(path_exists(std::string(5000, 'x')));
  CHECK(path_exists("/"));
}

}  // namespace geosft::test::test_safe_join
