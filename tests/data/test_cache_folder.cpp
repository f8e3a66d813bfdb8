// SPDX-License-Identifier: Apache-2.0
#include "data/cache_folder.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/data/files.h"
#include "tests/environment.h"

namespace geosft::test::test_cache_folder {

TEST_CASE("the default cache folder follows the environment") {
  const test::EnvironmentVariable absolute("XDG_CACHE_HOME", "/somewhere");
  CHECK(default_cache_folder() == "/somewhere/geosft");
  const test::EnvironmentVariable relative("XDG_CACHE_HOME", "relative");
  CHECK_FALSE(default_cache_folder().string().starts_with("relative"));
}

TEST_CASE("files of the cache are named by what they hold") {
  const std::filesystem::path file = cache_file("/folder", "chair", ".shape");
  CHECK(file.parent_path() == "/folder");
  CHECK(file.extension() == ".shape");
  CHECK(cache_file("/folder", "chair", ".shape") == file);
  CHECK(cache_file("/folder", "table", ".shape") != file);
}

TEST_CASE("a cache folder is made, or it is said that it cannot be") {
  const test::TemporaryFolder folder;
  CHECK(make_cache_folder(folder / "deep/er"));
  CHECK(make_cache_folder(folder / "deep/er"));
  CHECK_FALSE(make_cache_folder(""));
  test::write_text(folder / "file", "no folder");
  CHECK_FALSE(make_cache_folder(folder / "file"));
}

TEST_CASE("the key of files follows their contents, their names and their number") {
  const test::TemporaryFolder folder;
  const auto key = [&] { return contents_key(files_below({folder / "a", folder / "b"})); };
  test::write_text(folder / "a/x/1", "text");
  test::write_text(folder / "b/2", "other");
  CHECK(files_below({folder / "b", folder / "a", folder / "absent"}).size() == 2);
  std::set<std::string> seen = {key()};
  CHECK(seen.count(key()) == 1);
  const auto changed = [&] { return seen.insert(key()).second; };
  test::write_text(folder / "b/2", "othes");
  CHECK(changed());
  std::filesystem::rename(folder / "a/x", folder / "a/y");
  CHECK(changed());
  test::write_text(folder / "b/3", "");
  CHECK(changed());
  CHECK(contents_key({folder / "absent"}) != contents_key({folder / "b/3"}));
}

}  // namespace geosft::test::test_cache_folder
