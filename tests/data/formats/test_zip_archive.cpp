// SPDX-License-Identifier: Apache-2.0
#include "data/formats/zip_archive.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/data/files.h"
#include "tests/data/zip_files.h"
#include "tests/support.h"

namespace geosft::test::test_zip_archive {

TEST_CASE("an archive in memory is read like a file") {
  const test::TemporaryFolder folder;
  test::write_zip(folder / "a.zip", {{"a", "short"}, {"b/c", std::string(3000, 'x')}});
  const std::string bytes = test::read_text(folder / "a.zip");
  const ZipArchive archive(bytes, "a.zip");
  REQUIRE(archive.members() == std::vector<std::string>({"a", "b/c"}));
  REQUIRE(archive.read("b/c") == std::string(3000, 'x'));
  test::require_error([&] { archive.read("d"); }, {"a.zip:d", "a member"});
  test::require_error([] { ZipArchive("nothing", "b.zip"); }, {"b.zip", "a zip file"});
}

TEST_CASE("members of a zip file are read, from several threads") {
  const test::TemporaryFolder folder;
  const std::string large(3000000, 'x');
  write_zip(folder / "a.zip", {{"x/a.obj", "v 0 0 0"}, {"empty", ""}, {"large", large}});
  const ZipArchive archive(folder / "a.zip");
  CHECK(archive.read("x/a.obj") == "v 0 0 0");
  CHECK(archive.read("empty").empty());
  std::vector<std::string> results(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& result : results) threads.emplace_back([&] { result = archive.read("large"); });
  }
  for (const std::string& result : results) CHECK(result == large);
}

TEST_CASE("a zip bomb is refused") {
  const test::TemporaryFolder folder;
  write_zip(folder / "bomb.zip", {{"zeros", std::string(10000000, '\0')}});
  CHECK(std::filesystem::file_size(folder / "bomb.zip") < 100000);
  const ZipArchive archive(folder / "bomb.zip");
  test::require_error([&] { archive.read("zeros", 1000000); }, {"bomb.zip:zeros", "at most 1000000 bytes", "10000000"});
}

TEST_CASE("broken zip files are refused") {
  const test::TemporaryFolder folder;
  write_zip(folder / "a.zip", {{"text", "The quick brown fox jumps over the lazy dog. The quick brown fox."}});
  test::require_error([&] { ZipArchive(folder / "a.zip").read("other"); }, {"a.zip:other", "No such file"});
  test::require_error([&] { ZipArchive(folder / "absent.zip"); }, {"absent.zip", "No such file"});
  test::write_text(folder / "text.zip", "this is no zip file");
  test::require_error([&] { ZipArchive(folder / "text.zip"); }, {"text.zip", "a zip file"});
  const std::string whole = test::read_text(folder / "a.zip");
  test::write_text(folder / "short.zip", whole.substr(0, whole.size() / 2));
  test::require_error([&] { ZipArchive(folder / "short.zip"); }, {"short.zip", "a zip file"});
  std::string damaged = whole;
  damaged[40] ^= 0x10;  // in the packed data, behind the 34 bytes of the member's header
  test::write_text(folder / "damaged.zip", damaged);
  test::require_error([&] { ZipArchive(folder / "damaged.zip").read("text"); }, {"damaged.zip:text", "undamaged data"});
}

TEST_CASE("a member that is packed more densely than data are is refused") {
  const test::TemporaryFolder folder;
  write_zip(folder / "bomb.zip", {{"zeros", std::string(size_t{300} << 20, '\0')}});
  test::require_error([&] { ZipArchive(folder / "bomb.zip").read("zeros"); },
                      {"bomb.zip:zeros", "at most 2", "bytes unpacked", std::to_string(300 << 20)});
}

TEST_CASE("an archive whose members lead out of a folder is refused") {
  const test::TemporaryFolder folder;
  for (const std::string name : {"../x", "a/../../x", "/etc/x"}) {
    write_zip(folder / "bad.zip", {{"good", "x"}, {name, "x"}});
    test::require_error([&] { ZipArchive(folder / "bad.zip"); },
                        {"bad.zip: expected names of files in its folder", "found \"" + name + "\""});
    std::filesystem::remove(folder / "bad.zip");
  }
}

}  // namespace geosft::test::test_zip_archive
