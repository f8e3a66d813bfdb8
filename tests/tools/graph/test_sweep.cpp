// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/graph/sweep.h"

#include <catch2/catch.hpp>

#include <limits>
#include <set>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/pictures.h"
#include "tools/experiment/arguments.h"

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
  CHECK(all[7].settings.model.depth == 6);
  CHECK(all[7].settings.model.score == ScoreKind::dot);
  CHECK_FALSE(all[7].settings.model.relative);
  CHECK(all[2].settings.model.score == ScoreKind::dot);
  CHECK(all[2].settings.model.relative);
  for (const Variation& variation : all) CHECK(variation.settings.num_seeds == 3);
  REQUIRE(variations({}).size() == 1);
  CHECK(variations({.vary = {"num_samples=4,8"}})[1].name == "num_samples=8");
}

TEST_CASE("a value brings others along, and lists stay whole") {
  const std::vector<Variation> all =
      variations({.set = {"positions=added"}, .vary = {"attention=sampling+positions=relative+num_samples=7,softmax"}});
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "attention=sampling+positions=relative+num_samples=7");
  CHECK(all[0].settings.model.positions == NodePositions::relative);
  CHECK(all[0].settings.model.sampling.num_samples == 7);
  CHECK(all[1].name == "attention=softmax");
  CHECK(all[1].settings.model.positions == NodePositions::added);
  CHECK(variations({.set = {"lr=1e+0"}})[0].settings.train.optimization.learning_rate == 1.0);
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
  CHECK(all[3].settings.model.num_heads == 2);
  CHECK(all[3].settings.model.sampling.num_samples == 8);
  CHECK((all[3].settings.num_seeds == 3 && all[3].settings.model.depth == 2));
  CHECK(all[2].settings.model.sampling.num_samples == 4);
}

TEST_CASE("the lists that come along compare different models with the first") {
  const std::string folder = source_path("tools/configs/graph/");
  for (const std::string name : {"ablations_mutag.toml", "ablations_peptides.toml"}) {
    INFO(name);
    const std::vector<Variation> all = variations(read_sweep_list(folder + name));
    REQUIRE(all.size() == 10);
    std::set<std::string> models, folders, scores, encodings;
    std::set<int64_t> num_samples;
    int without_edges = 0;
    for (const Variation& variation : all) {
      GraphSettings settings = variation.settings;
      models.insert(settings.config().to_toml());
      folders.insert(folder_name(variation.name));
      scores.insert(std::string(name_of(settings.model.score)) + " " + name_of(settings.model.probability));
      encodings.insert(name_of(settings.model.encoding));
      num_samples.insert(settings.model.sampling.num_samples);
      without_edges += settings.model.relative ? 0 : 1;
    }
    CHECK(models.size() == 10);
    CHECK(folders.size() == 10);
    CHECK(scores.size() == 4);
    CHECK(encodings == std::set<std::string>{"lappe", "none", "rwpe"});
    CHECK(num_samples.size() == 4);
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

namespace geosft::test::test_sweep_curves {
namespace {

// Writes scores by epoch, of the split and of training.
std::filesystem::path metrics(const TemporaryFolder& folder, const std::string& name, const std::string& split,
                              const std::vector<double>& scores) {
  MetricsWriter writer(folder / name);
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto epoch = static_cast<int64_t>(i) + 1;
    writer.append({.step = 10 * epoch, .epoch = epoch, .split = "train", .score = 0.125});
    if (split != "train") writer.append({.step = 10 * epoch, .epoch = epoch, .split = split, .score = scores[i]});
  }
  return folder / name;
}

}  // namespace

TEST_CASE("the learning curve of a configuration is the mean over its runs", "[sweep_curves]") {
  const TemporaryFolder folder;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto a = metrics(folder, "a.csv", "validation", {0.25, 0.5, 0.75}),
             b = metrics(folder, "b.csv", "validation", {0.5, nan, 0.25, 1.0});
  const Curve curve = mean_learning_curve("both", {a, b});
  REQUIRE(curve.name == "both");
  REQUIRE(curve.x == std::vector<double>{1, 3});
  REQUIRE(curve.y == std::vector<double>{0.375, 0.5});
  REQUIRE(mean_learning_curve("a", {a}).y == std::vector<double>{0.25, 0.5, 0.75});
  const auto trained = metrics(folder, "c.csv", "train", {0, 0});
  REQUIRE(mean_learning_curve("c", {trained}).y == std::vector<double>{0.125, 0.125});
  REQUIRE(mean_learning_curve("a and c", {a, trained}).x == std::vector<double>{1, 2});
  REQUIRE(mean_learning_curve("test", {metrics(folder, "d.csv", "test", {0.5})}).y == std::vector<double>{0.5});
  REQUIRE(mean_learning_curve("none", {}).x.empty());
}

TEST_CASE("curves are left as a table and as a picture", "[sweep_curves]") {
  const PictureFolder folder;
  const std::vector<Curve> curves = {{"maxout", {1, 2}, {0.5, 0.25}}, {"empty", {}, {}}, {"dot", {1, 2}, {0.25, 0.75}}};
  const PlotResult drawn = leave_learning_curves(curves, {.name = "accuracy"}, folder.stem());
  const std::string table = read_text(std::filesystem::path(folder.stem()) += ".csv");
  REQUIRE(table.find("curve,epoch,accuracy") == 0);
  REQUIRE(table.find("dot,2,0.75") != std::string::npos);
  REQUIRE(table.find("empty") == std::string::npos);
  REQUIRE_FALSE(leave_learning_curves({{"empty", {}, {}}}, {}, folder.stem()).drawn);
  if (!has_gnuplot() || !require_picture(drawn, folder)) return;
  REQUIRE(folder.svg().find("best so far") != std::string::npos);
}

TEST_CASE("the keys of a sweep are those of its values, too") {
  SweepList list;
  list.set = {"epochs=2", "pool=[1,2]"};
  list.vary = {"attention=sampling,none+local=gcn+dim=8", "lr=1e+3"};
  list.variations = {{"whole", {"relative=false"}}};
  CHECK(keys_of(list) == std::set<std::string>{"attention", "dim", "epochs", "local", "lr", "pool", "relative"});
}

TEST_CASE("settings that differ in keys alone that nothing uses are the same training") {
  const auto used = [](const std::vector<std::string>& set) {
    SweepList list;
    list.set = set;
    return used_settings(variations(list).at(0).settings);
  };
  CHECK(used({"attention=softmax", "num_samples=4"}) == used({"attention=softmax", "num_samples=8"}));
  CHECK(used({"attention=sampling", "num_samples=4"}) != used({"attention=sampling", "num_samples=8"}));
  CHECK(used({"lr=1e-3"}) == used({"lr=0.001"}));
  CHECK(used({"lr=1e-3"}) != used({"lr=2e-3"}));
  const std::string unseen = "head_fingerprints=false";
  CHECK(used({unseen, "fingerprint=wl0"}) == used({unseen, "fingerprint=none"}));
  CHECK(used({unseen, "fingerprint=wl0"}) == used({"fingerprint=none"}));
  CHECK(used({unseen, "fingerprint=wl0", "kernel_ridge=true"}) != used({"fingerprint=wl1", "kernel_ridge=true"}));
  CHECK(used({unseen, "fingerprint=wl0", "kernel_ridge=true"}) !=
        used({unseen, "fingerprint=none", "kernel_ridge=true"}));
}

}  // namespace geosft::test::test_sweep_curves
