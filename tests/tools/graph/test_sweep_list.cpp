// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/sweep_list.h"

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_sweep_list {
namespace {

void require_refused(const std::string& toml, const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  write_text(folder / "list.toml", toml);
  CHECK_THROWS_AS(read_sweep_list(folder / "list.toml"), UsageError);
  require_error([&] { read_sweep_list(folder / "list.toml"); }, words);
}

}  // namespace

TEST_CASE("a list says what is compared, in its order") {
  const TemporaryFolder folder;
  write_text(folder / "list.toml",
             "configs = ['small.toml', '../large.toml']\nset = ['epochs=4']\nvary = ['bins=4,8', 'score=maxout,dot']\n"
             "[[variations]]\nname = 'whole'\n[[variations]]\nset = ['relative=false', 'heads=2']\nname = 'no bonds'\n"
             "[[variations]]\nname = 'a dot'\nset = ['score=dot']\n");
  const SweepList list = read_sweep_list(folder / "list.toml");
  CHECK(list.configs == std::vector<std::filesystem::path>{folder / "small.toml", folder / "../large.toml"});
  CHECK(list.set == std::vector<std::string>{"epochs=4"});
  CHECK(list.vary == std::vector<std::string>{"bins=4,8", "score=maxout,dot"});
  REQUIRE(list.variations.size() == 3);
  CHECK(list.variations[0].name == "whole");
  CHECK(list.variations[0].set.empty());
  CHECK(list.variations[1].name == "no bonds");
  CHECK(list.variations[1].set == std::vector<std::string>{"relative=false", "heads=2"});
  CHECK(list.variations[2].name == "a dot");
}

TEST_CASE("a list may say nothing, and a path may be whole") {
  const TemporaryFolder folder;
  write_text(folder / "empty.toml", "");
  const SweepList list = read_sweep_list(folder / "empty.toml");
  CHECK((list.configs.empty() && list.set.empty() && list.vary.empty() && list.variations.empty()));
  write_text(folder / "whole.toml", "configs = ['/etc/a.toml']");
  CHECK(read_sweep_list(folder / "whole.toml").configs == std::vector<std::filesystem::path>{"/etc/a.toml"});
}

TEST_CASE("lists of another form are refused by file and line") {
  require_refused("vary = []\nconfig = ['a']\n", {"list.toml:2", "'config'", "'configs'"});
  require_refused("set = 'epochs=4'\n", {"list.toml:1", "a list of texts as 'set'", "epochs=4"});
  require_refused("set = ['epochs=4',\n 5]\n", {"list.toml:2", "a list of texts as 'set'", "found 5"});
  require_refused("[set]\nepochs = 4\n", {"list.toml:1", "a list of texts as 'set'", "a table"});
  require_refused("variations = ['score=dot']\n", {"list.toml:1", "[[variations]]", "score=dot"});
  require_refused("[variations]\nname = 'a'\n", {"list.toml:1", "[[variations]]", "a table"});
  require_refused("[[variations]]\nset = []\n", {"list.toml:1", "'name' of a variation", "none"});
  require_refused("[[variations]]\nname = 7\n", {"list.toml:1", "'name' of a variation", "none"});
  require_refused("[[variations]]\nname = 'a'\nvary = ['bins=1,2']\n", {"list.toml:3", "unknown key 'vary'"});
  require_refused("[[variations]]\nname = 'a'\nset = 'bins=1'\n", {"list.toml:3", "'set'", "bins=1"});
  require_refused("configs = [\n", {"list.toml:"});
  CHECK_THROWS_AS(read_sweep_list("none.toml"), UsageError);
}

}  // namespace geosft::test::test_sweep_list
