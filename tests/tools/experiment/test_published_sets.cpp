// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/published_sets.h"

#include <catch2/catch.hpp>
#include <set>

#include "data/sha256.h"
#include "tests/data/zip_files.h"
#include "tests/support.h"
#include "tests/tools/experiment/command_line.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_published_sets {
namespace fs = std::filesystem;

TEST_CASE("published sets have an archive each, and sums of 64 digits") {
  std::set<std::string> names;
  for (const PublishedSet& set : published_sets()) {
    INFO(set.name);
    CHECK(names.insert(set.name).second);
    CHECK_THAT(set.url, Catch::StartsWith("https://") && Catch::EndsWith(set.name + ".zip"));
    for (const auto& sum : set.sums) CHECK(sum.sha256.find_first_not_of("0123456789abcdef") == std::string::npos);
    for (const auto& sum : set.sums) CHECK(sum.sha256.size() == 64);
  }
  CHECK(find_published("geosft-graph", "mutag")->name == "MUTAG");
  CHECK(find_published("geosft-classify", "MUTAG") == nullptr);
}

TEST_CASE("an archive is unpacked without the folder around its files, and checked") {
  const TemporaryFolder folder;
  PublishedSet set{"SET", "geosft-graph", "https://example.org/SET.zip", "", {{"a.txt", sha256("one")}}};
  for (const std::string prefix : {"", "other_name/"}) {
    const fs::path archive = folder / "SET.zip", to = folder / ("to" + std::to_string(prefix.size()));
    write_zip(archive, {{prefix + "a.txt", "one"}, {prefix + "b/c.txt", "two"}, {"__MACOSX/a.txt", "?"}});
    unpack_published(set, archive, to, /*any_version=*/false);
    CHECK(read_text(to / "SET" / "a.txt") == "one");
    CHECK(read_text(to / "SET" / "b" / "c.txt") == "two");
    CHECK(std::distance(fs::directory_iterator(to), fs::directory_iterator()) == 1);
  }
  set.sums.front().sha256 = sha256("other");
  require_error([&] { unpack_published(set, folder / "SET.zip", folder / "again", false); },
                {"a.txt", sha256("other"), sha256("one"), "--any-version"});
  CHECK(fs::is_empty(folder / "again"));
  unpack_published(set, folder / "SET.zip", folder / "again", true);
  CHECK(fs::exists(folder / "again" / "SET" / "a.txt"));
}

TEST_CASE("the command that downloads a set is named where nothing has its name") {
  const TemporaryFolder folder;
  CHECK_THAT(fetch_hint("geosft-graph", folder / "MUTAG"),
             Catch::Contains("`geosft-graph fetch MUTAG ") &&
                 Catch::EndsWith("--to " + shell_word(folder.path().string()) + "` downloads it"));
  CHECK_THAT(fetch_hint("geosft-graph", folder / "mutag"),
             Catch::EndsWith(", for --data " + (folder / "MUTAG").string()));
  CHECK_THAT(fetch_hint("geosft-graph", "MUTAG"), Catch::Contains("MUTAG` downloads it, for --data datasets/MUTAG"));
  CHECK(fetch_hint("geosft-graph", folder / "mine").empty());
  CHECK(fetch_hint("geosft-classify", folder / "MUTAG").empty());
  fs::create_directory(folder / "MUTAG");
  CHECK(fetch_hint("geosft-graph", folder / "MUTAG").empty());
}

}  // namespace geosft::test::test_published_sets
