// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/variations.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_variations {

TEST_CASE("a sweep is every file with every combination") {
  const TemporaryFolder folder;
  write_text(folder / "small.toml", "[model]\nlayers = 2\n");
  write_text(folder / "large.toml", "[model]\nlayers = 6\n");
  const std::vector<Variation> all = variations({folder / "small.toml", folder / "large.toml"}, {"repeats=3"},
                                                {"score=maxout,dot", "relative=true,false"});
  REQUIRE(all.size() == 8);
  CHECK(all[0].name == "small score=maxout relative=true");
  CHECK(all[7].name == "large score=dot relative=false");
  CHECK(all[7].settings.model.layers == 6);
  CHECK(all[7].settings.model.score == "dot");
  CHECK_FALSE(all[7].settings.model.relative);
  CHECK(all[2].settings.model.score == "dot");
  CHECK(all[2].settings.model.relative);
  for (const Variation& variation : all) CHECK(variation.settings.repeats == 3);
  REQUIRE(variations({}, {}, {}).size() == 1);
  CHECK(variations({}, {}, {"bins=4,8"})[1].name == "bins=8");
}

TEST_CASE("a value brings others along, and lists stay whole") {
  const std::vector<Variation> all =
      variations({}, {"positions=added"}, {"attention=sampling+positions=relative+bins=7,softmax"});
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "attention=sampling+positions=relative+bins=7");
  CHECK(all[0].settings.model.positions == "relative");
  CHECK(all[0].settings.model.bins == 7);
  CHECK(all[1].name == "attention=softmax");
  CHECK(all[1].settings.model.positions == "added");
  CHECK(variations({}, {"learning_rate=1e+0"}, {})[0].settings.train.learning_rate == 1.0);
  const std::vector<Variation> pools = variations({}, {"attention=sh", "heads=2"}, {"pool=[1,2],[2,4]"});
  REQUIRE(pools.size() == 2);
  CHECK(pools[0].settings.model.primal.pool == std::vector<double>{1, 2});
  CHECK(pools[1].settings.model.primal.pool == std::vector<double>{2, 4});
}

TEST_CASE("names of folders are safe") {
  CHECK(folder_name("mutag score=dot") == "mutag_score=dot");
  CHECK(folder_name("a/../b") == "a_.._b");
  CHECK(folder_name("") == "run");
}

TEST_CASE("entries that mean nothing are refused") {
  for (const char* entry : {"score", "=dot", "score=", "score=loud", "scroe=dot", "heads=5", "bins=4+scroe=dot"}) {
    INFO(entry);
    CHECK_THROWS_AS(variations({}, {}, {entry}), UsageError);
  }
  CHECK_THROWS_AS(variations({}, {"score=dot,maxout"}, {}), UsageError);
  CHECK_THROWS_AS(variations({"absent.toml"}, {}, {}), UsageError);
}

}  // namespace geosft::test::test_variations
