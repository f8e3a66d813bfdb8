// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/variations.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_variations {

TEST_CASE("a sweep is every file with every combination") {
  const TemporaryFolder folder;
  write_text(folder / "small.toml", "[model]\nlayers = 2\n");
  write_text(folder / "large.toml", "[model]\nlayers = 6\n");
  const std::vector<Variation> all = variations({.configs = {folder / "small.toml", folder / "large.toml"},
                                                 .set = {"num_seeds=3"},
                                                 .vary = {"score=maxout,dot", "relative=true,false"}});
  REQUIRE(all.size() == 8);
  CHECK(all[0].name == "small score=maxout relative=true");
  CHECK(all[7].name == "large score=dot relative=false");
  CHECK(all[7].settings.model.layers == 6);
  CHECK(all[7].settings.model.score == ScoreKind::dot);
  CHECK_FALSE(all[7].settings.model.relative);
  CHECK(all[2].settings.model.score == ScoreKind::dot);
  CHECK(all[2].settings.model.relative);
  for (const Variation& variation : all) CHECK(variation.settings.repeats == 3);
  REQUIRE(variations({}).size() == 1);
  CHECK(variations({.vary = {"num_samples=4,8"}})[1].name == "num_samples=8");
}

TEST_CASE("a value brings others along, and lists stay whole") {
  const std::vector<Variation> all =
      variations({.set = {"positions=added"}, .vary = {"attention=sampling+positions=relative+num_samples=7,softmax"}});
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "attention=sampling+positions=relative+num_samples=7");
  CHECK(all[0].settings.model.positions == NodePositions::relative);
  CHECK(all[0].settings.model.bins == 7);
  CHECK(all[1].name == "attention=softmax");
  CHECK(all[1].settings.model.positions == NodePositions::added);
  CHECK(variations({.set = {"lr=1e+0"}})[0].settings.train.learning_rate == 1.0);
  const std::vector<Variation> pools =
      variations({.set = {"attention=sh", "num_heads=2"}, .vary = {"pool=[1,2],[2,4]"}});
  REQUIRE(pools.size() == 2);
  CHECK(pools[0].settings.model.primal.pool == std::vector<double>{1, 2});
  CHECK(pools[1].settings.model.primal.pool == std::vector<double>{2, 4});
}

TEST_CASE("changes with a name are laid over what is set for all, and varied") {
  const TemporaryFolder folder;
  write_text(folder / "small.toml", "[model]\nlayers = 2\n");
  const std::vector<Variation> all =
      variations({.configs = {folder / "small.toml"},
                  .set = {"score=dot", "num_seeds=3"},
                  .variations = {{"as it is", {}}, {"maxout", {"score=maxout", "num_heads=2"}}},
                  .vary = {"num_samples=4,8"}});
  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "small as it is num_samples=4");
  CHECK(all[0].settings.model.score == ScoreKind::dot);
  CHECK(all[3].name == "small maxout num_samples=8");
  CHECK(all[3].settings.model.score == ScoreKind::maxout);
  CHECK(all[3].settings.model.heads == 2);
  CHECK(all[3].settings.model.bins == 8);
  CHECK((all[3].settings.repeats == 3 && all[3].settings.model.layers == 2));
  CHECK(all[2].settings.model.bins == 4);
}

TEST_CASE("the lists that come along compare different models with the first") {
  const std::string folder = GEOSFT_SOURCE_DIR "/tools/configs/graph/";
  for (const std::string name : {"ablations_mutag.toml", "ablations_peptides.toml"}) {
    INFO(name);
    const std::vector<Variation> all = variations(read_sweep_list(folder + name));
    REQUIRE(all.size() == 10);
    std::set<std::string> models, folders, scores, encodings;
    std::set<int64_t> bins;
    int without_edges = 0;
    for (const Variation& variation : all) {
      GraphSettings settings = variation.settings;
      models.insert(settings.config().to_toml());
      folders.insert(folder_name(variation.name));
      scores.insert(std::string(name_of(settings.model.score)) + " " + name_of(settings.model.probability));
      encodings.insert(settings.model.encoding);
      bins.insert(settings.model.bins);
      without_edges += settings.model.relative ? 0 : 1;
    }
    CHECK(models.size() == 10);
    CHECK(folders.size() == 10);
    CHECK(scores.size() == 4);
    CHECK(encodings == std::set<std::string>{"lappe", "none", "rwpe"});
    CHECK(bins.size() == 4);
    CHECK(without_edges == 1);
  }
}

TEST_CASE("names of folders are safe") {
  CHECK(folder_name("mutag score=dot") == "mutag_score=dot");
  CHECK(folder_name("a/../b") == "a_.._b");
  CHECK(folder_name("") == "run");
}

TEST_CASE("entries that mean nothing are refused") {
  for (const char* entry :
       {"score", "=dot", "score=", "score=loud", "scroe=dot", "num_heads=5", "num_samples=4+scroe=dot"}) {
    INFO(entry);
    CHECK_THROWS_AS(variations({.vary = {entry}}), UsageError);
    CHECK_THROWS_AS(variations({.variations = {{"change", {entry}}}}), UsageError);
  }
  CHECK_THROWS_AS(variations({.set = {"score=dot,maxout"}}), UsageError);
  CHECK_THROWS_AS(variations({.configs = {"absent.toml"}}), UsageError);
}

}  // namespace geosft::test::test_variations
