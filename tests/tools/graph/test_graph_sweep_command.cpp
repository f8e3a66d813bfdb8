// SPDX-License-Identifier: Apache-2.0
// geosft-graph sweep, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_sweep_command {
namespace fs = std::filesystem;

namespace {

// Of a table without the column of measured seconds, which differ from training to training.
Words without_seconds(Words lines) {
  for (std::string& line : lines) {
    size_t begin = 0;
    for (int bars = 0; bars < 4; ++bars) begin = line.find('|', begin) + 1;
    line.erase(begin, line.find('|', begin) - begin);
  }
  return lines;
}

}  // namespace

TEST_CASE("sweep trains every configuration, tabulates them, and goes on where it was") {
  const GraphShop shop;
  write_text(shop / "tiny.toml",
             "[splits]\nfolds = 4\n[model]\nwidth = 16\nheads = 2\nlayers = 1\nbins = 4\n[train]\nbatch_size = 8\n");
  const fs::path out = shop / "sweep";
  const Words words = {"sweep",  (shop / "tiny.toml").string(),
                       "--data", shop.data().string(),
                       "--out",  out.string(),
                       "--set",  "epochs=1",
                       "--set",  "num_seeds=2",
                       "--vary", "score=maxout,dot"};
  const Words table = lines_of(shop.run_well(words).out);
  REQUIRE(table.size() == 2 + 2);
  CHECK_THAT(table[0], Catch::StartsWith("| run | parameters | epochs | seconds | "));
  CHECK_THAT(table[2], Catch::StartsWith("| tiny score=maxout |") && Catch::Contains(" ± "));
  CHECK_THAT(table[3], Catch::StartsWith("| tiny score=dot |"));
  CHECK_THAT(table[0], Catch::EndsWith("| accuracy less the first's (%) |"));
  CHECK_THAT(table[2], Catch::EndsWith("| |"));
  CHECK_THAT(table[3], !Catch::EndsWith("| |"));
  CHECK(lines_of(read_text(out / "table.md")) == table);
  CHECK(fs::exists(out / "tiny_score=dot" / "seed_1" / "best.ckpt"));
  CHECK_THAT(shop.run_well({"info", out.string()}).out,
             Catch::Contains(": a sweep") && Catch::Contains((out / "table.md").string()));
  fs::remove_all(out / "tiny_score=dot" / "seed_1");
  CHECK(without_seconds(lines_of(shop.run_well(words).out)) == without_seconds(table));
  CHECK(lines_of(shop.run_well(words + Words{"--csv"}).out)[0] == lines_of(read_text(out / "table.csv"))[0]);
  const Words lines = lines_of(shop.run_well(words + Words{"--json"}).out);
  REQUIRE(lines.size() == 2);
  const nlohmann::json first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
  CHECK(first.at("configuration") == "tiny score=maxout");
  CHECK(first.at("repeats") == 2);
  CHECK(first.at("parameters") > 1000);
  CHECK(first.at("epochs") == 1);
  CHECK(first.at("seconds").size() == 2);
  CHECK_FALSE(first.contains("differences"));
  double difference = 0;
  for (int run : {0, 1}) {
    const auto accuracy = [&](const nlohmann::json& json) {
      return json.at("runs")[run].at("metrics").at("accuracy").get<double>();
    };
    difference += (accuracy(second) - accuracy(first)) / 2;
  }
  CHECK(second.at("differences").at("accuracy").get<double>() == Approx(difference).margin(1e-12));
  CHECK(second.at("difference_deviations").at("accuracy").is_number());
  shop.refuses(words + Words{"--seed", "5"}, 2, {"another configuration (\"seed = 0\", asked for is \"seed = 5\")"});
  shop.refuses(words + Words{"--set", "epochs=2"}, 2, {"another configuration"});
}

TEST_CASE("a sweep in equal time finds the epochs that fit, and goes on with them") {
  const GraphShop shop;
  const fs::path out = shop / "sweep";
  const auto words = [&](const std::string& seconds) {
    return Words{"sweep",   "--data",        shop.data().string(),
                 "--out",   out.string(),    "--json",
                 "--set",   "folds=4",       "--set",
                 "dim=16",  "--set",         "num_heads=2",
                 "--set",   "num_samples=4", "--set",
                 "depth=1", "--set",         "num_seeds=2",
                 "--vary",  "score=maxout",  "--seconds",
                 seconds};
  };
  const auto epochs_of = [&](const std::string& seconds) {
    return nlohmann::json::parse(shop.run_well(words(seconds)).out).at("epochs").get<int64_t>();
  };
  CHECK(epochs_of("0.001") >= 1);  // however long one takes
  fs::remove_all(out);
  write_text(out / "score=maxout.trial" / "config.toml", "of a trial that was killed");
  const int64_t epochs = epochs_of("0.5");
  CHECK(epochs >= 1);  // how many, the clock decides
  CHECK_FALSE(fs::exists(out / "score=maxout.trial"));
  CHECK_THAT(read_text(out / "score=maxout" / "seed_1" / "config.toml"),
             Catch::Contains("\nepochs = " + std::to_string(epochs) + "\n"));
  CHECK(epochs_of("0.5") == epochs);
}

TEST_CASE("sweep compares what a list says, with what the command line adds") {
  const GraphShop shop;
  write_text(shop / "lists/tiny.toml", "[splits]\nfolds = 4\n[model]\nwidth = 16\nheads = 2\nlayers = 1\nbins = 4\n");
  write_text(shop / "lists/both.toml",
             "configs = ['tiny.toml']\nset = ['epochs=9', 'batch_size=8']\n[[variations]]\nname = 'whole'\n"
             "[[variations]]\nname = 'no bonds'\nset = ['relative=false']\n");
  const fs::path out = shop / "sweep";
  const Words words = Words{"sweep", "--list", (shop / "lists/both.toml").string(), "--data", shop.data().string()} +
                      Words{"--out", out.string(), "--set", "epochs=1"} +
                      Words{"--vary", "encoding=none,rwpe+encoding_columns=3"};
  const Words table = lines_of(shop.run_well(words).out);
  REQUIRE(table.size() == 2 + 4);
  CHECK_THAT(table[2], Catch::StartsWith("| tiny whole encoding=none |"));
  CHECK_THAT(table[5], Catch::StartsWith("| tiny no bonds encoding=rwpe+encoding_columns=3 |"));
  const std::string config = read_text(out / "tiny_no_bonds_encoding=none" / "config.toml");
  for (const char* line : {"epochs = 1\n", "batch_size = 8\n", "relative = false\n", "encoding = \"none\"\n"}) {
    CHECK_THAT(config, Catch::Contains(std::string("\n") + line));
  }
  CHECK(without_seconds(lines_of(shop.run_well(words).out)) == without_seconds(table));
}

TEST_CASE("a sweep trains once what several of its configurations are") {
  const GraphShop shop;
  const ProcessResult found = shop.run_well(
      Words{"sweep", "--data", shop.data().string(), "--out", (shop / "sweep").string(), "--set", "epochs=1"} +
      Words{"--set", "folds=4", "--vary", "attention=softmax,sampling", "--vary", "num_samples=4,8"});
  CHECK(lines_of(found.out).size() == 2 + 3);
  CHECK_THAT(found.err, Catch::Contains("left out: attention=softmax num_samples=8 is the same training as "
                                        "attention=softmax num_samples=4\n"));
  CHECK(count_of(found.err, "left out: ") == 1);
}

TEST_CASE("a sweep without a configuration begins as a training without one") {
  const GraphShop shop;
  const fs::path out = shop / "sweep";
  shop.run_well({"sweep", "--data", shop.data().string(), "--out", out.string(), "--set", "epochs=1"});
  shop.run_well({"train", "--data", shop.data().string(), "--out", (shop / "run").string(), "--epochs", "1"});
  CHECK(read_text(out / "run/config.toml") == read_text(shop / "run/config.toml"));
}

TEST_CASE("sweep refuses wrong use in a line") {
  const GraphShop shop;
  write_text(shop / "list.toml", "varry = ['num_samples=4,8']\n");
  write_text(shop / "epochs.toml", "[[variations]]\nname = 'long'\nset = ['epochs=9']\n");
  const std::string data = shop.data().string(), out = (shop / "sweep").string();
  shop.refuses({"sweep", "--data", data}, 2, {"--out"});
  shop.refuses({"sweep", "--out", out}, 2, {"--data"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--vary", "scroe=dot"}, 2, {"'scroe'", "'score'"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--vary", "num_samples=4,4"}, 2, {"two configurations"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--json", "--csv"}, 2, {"--csv"});
  // A key that no configuration uses; one that some do is taken.
  shop.refuses({"sweep", "--data", data, "--out", out, "--set", "split_folder=x"}, 2,
               {"split_folder is for a table of molecules or XYZ files, not for " + data});
  shop.refuses({"sweep", "--data", data, "--out", out, "--vary", "attention=softmax,linear", "--set", "num_samples=4"},
               2, {"num_samples is for attention sampling"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--vary", "attention=softmax,linear", "--set", "bins=4"}, 2,
               {"num_samples is for attention sampling"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--set", "depth=1", "--vary", "depth=1,2"}, 2,
               {"depth is both varied and set: leave out depth=1,2 or depth=1"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--seed", "3", "--vary", "seed=1,2"}, 2,
               {"seed is both varied and set: leave out seed=1,2 or seed=3"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--set", "bins=4", "--vary", "num_samples=4,8"}, 2,
               {"num_samples is both varied and set: leave out num_samples=4,8 or bins=4"});
  const Words some_use = {"--vary", "attention=sampling,softmax", "--set", "num_samples=4", "--set", "folds=500"};
  shop.require_failure(shop.run(Words{"sweep", "--data", data, "--out", out} + some_use), 2, {"folds must be at most"});
  // Refuses what only the data tell of a later configuration, before the first one is trained.
  shop.refuses({"sweep", "--data", data, "--out", out, "--vary", "metric=accuracy,mae"}, 2,
               {"metric=mae: metric mae does not exist for classification"});
  CHECK_FALSE(fs::exists(out));
  for (const char* option : {"--set", "--vary"}) {
    shop.refuses({"sweep", "--data", data, "--out", out, "--seconds", "9", option, "epochs=4"}, 2,
                 {"--seconds", "epochs"});
  }
  shop.refuses({"sweep", "--data", data, "--out", out, "--list", (shop / "list.toml").string()}, 2,
               {"list.toml:1", "'varry'", "'vary'"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--list", (shop / "none.toml").string()}, 2, {"none.toml"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--list", (shop / "epochs.toml").string(), "--seconds", "9"}, 2,
               {"--seconds", "epochs"});
  shop.refuses({"sweep", "--data", (shop / "MUTAG").string(), "--out", out}, 1,
               {"MUTAG", "nothing of this name", "geosft-graph fetch MUTAG"});
  for (const Words& more : {Words{}, Words{"--seconds", "1"}}) {
    // After the line that names the configuration.
    const ProcessResult refused = shop.run(Words{"sweep", "--data", data, "--out", out, "--set", "folds=500"} + more);
    shop.require_failure(refused, 2, {"folds"});
    CHECK_FALSE(fs::exists(out));
  }
  CHECK_FALSE(fs::exists(out));
}

}  // namespace geosft::test::test_graph_sweep_command
