// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/config.h"

#include "tests/support.h"
#include "tests/tools/experiment/unused_options.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace geosft::test::test_config {

namespace {

struct Options {
  uint64_t seed = 3;
  int64_t epochs = 20;
  double learning_rate = 1e-3;
  bool normals = true;
  bool shuffle = false;
  std::string score = "maxout";
  std::string name = "first";
  std::vector<double> scales = {0.8, 1.25};

  bool operator==(const Options&) const = default;
};

Config describe(Options& options) {
  Config config;
  config.add("train", "epochs", &options.epochs, "passes over the training set", {.low = 1})
      .add("train", "learning_rate", &options.learning_rate, "step size", {.low = 0, .high = 1, .open_low = true})
      .add("train", "shuffle", &options.shuffle, "new order every epoch")
      .add("data", "normals", &options.normals, "read normals")
      .add("data", "scales", &options.scales, "scaling of the augmentation")
      .add("data", "name", &options.name, "name of the set")
      .add_choice("model", "score", &options.score, {"maxout", "dot"}, "score of the attention")
      .add("", "seed", &options.seed, "of everything random");
  return config;
}

// The options after a file and a command line.
Options load(const std::string& toml, std::vector<const char*> words) {
  Options options;
  Config config = describe(options);
  CLI::App app("tool");
  config.add_options(app);
  words.insert(words.begin(), "tool");
  parse_arguments(app, static_cast<int>(words.size()), words.data(), std::cout);
  config.set_text(toml);
  config.apply_options();
  return options;
}

void require_refused(const std::string& toml, const std::vector<std::string>& expected) {
  Options options;
  Config config = describe(options);
  CHECK_THROWS_AS(config.set_text(toml, "some.toml"), UsageError);
  test::require_error([&] { config.set_text(toml, "some.toml"); }, expected);
}

}  // namespace

TEST_CASE("the defaults yield to the file and the file to the command line") {
  const Options defaults;
  CHECK(load("", {}) == defaults);

  const std::string toml =
      "seed = 9\n[train]\nepochs = 5\nlearning_rate = 1\n[data]\nnormals = false\nscales = [1, 2.5]\n";
  Options expected = defaults;
  expected.seed = 9;
  expected.epochs = 5;
  expected.learning_rate = 1.0;
  expected.normals = false;
  expected.scales = {1.0, 2.5};
  CHECK(load(toml, {}) == expected);

  expected.epochs = 7;
  expected.normals = true;
  expected.shuffle = true;
  expected.scales = {0.5};
  expected.score = "dot";
  expected.learning_rate = 0.25;
  CHECK(load(toml, {"--epochs", "6", "--epochs=7", "--normals", "--shuffle", "--scales", "0.5", "--score=dot",
                    "--learning-rate", "0.25"}) == expected);
  CHECK_FALSE(load("[data]\nnormals = true", {"--no-normals"}).normals);
}

TEST_CASE("the effective configuration loads back to the same values") {
  Options options{.seed = 1ULL << 62,
                  .epochs = 1,
                  .learning_rate = 0.1 + 0.2 - 0.1,
                  .normals = false,
                  .shuffle = true,
                  .score = "dot",
                  .name = "ünï \"quoted\" \\ # = ]\n\ttab",
                  .scales = {1.0 / 3.0, 1e-12, 5.0}};
  const std::string text = describe(options).to_toml();
  Options loaded;
  Config config = describe(loaded);
  config.set_text(text);
  CHECK(loaded == options);
  CHECK(config.to_toml() == text);
  CHECK(text.find("seed") < text.find("[train]"));

  Options empty{.name = "", .scales = {}};
  Options reloaded;
  describe(reloaded).set_text(describe(empty).to_toml());
  CHECK(reloaded == empty);
}

TEST_CASE("automatic values and tables are read, written and taken over") {
  struct Some {
    int64_t patch = 1;
    double beta = 0.5;
    NamedLists by_set = {};
    Config config() {
      Config all;
      all.add("", "patch", &patch, "steps", {.low = 1}).add("model", "beta", &beta, "weight");
      all.add("model", "by_set", &by_set, "weights", {.low = 0}).allow_automatic({"patch", "beta"});
      return all;
    }
  };
  Some some, again;
  some.config().set_text("patch = 'auto'\n[model]\nbeta = 'auto'\n[model.by_set]\nB = [1, 0.5]\nA = [2]\n");
  CHECK((is_automatic(some.patch) && is_automatic(some.beta)));
  CHECK(some.by_set == NamedLists{{"A", {2.0}}, {"B", {1.0, 0.5}}});
  again.config().set_text(some.config().to_toml());
  CHECK(again.config().to_toml() == some.config().to_toml());
  Some resolved;
  resolved.patch = 7;
  resolved.beta = 0.25;
  some.beta = 0.75;
  some.config().take_automatic(resolved.config());
  CHECK((some.patch == 7 && some.beta == 0.75));
  again.config().take_automatic(again.config());
  CHECK(is_automatic(again.patch));
  const auto refused = [&](const std::string& toml, const std::vector<std::string>& words) {
    require_error([&] { some.config().set_text(toml, "some.toml"); }, words);
  };
  refused("[model]\nby_set = { A = [-1] }\n", {"some.toml", "by_set", "a table of lists"});
  refused("[model]\nby_set = { A = 'x' }\n", {"some.toml", "by_set", "a table of lists"});
  refused("[model]\nbeta = 'most'\n", {"some.toml", "beta", "or auto"});
  CHECK_THROWS_AS(some.config().allow_automatic({"gamma"}), std::logic_error);
}

TEST_CASE("an unknown section or key is refused with the nearest known one") {
  require_refused("seed = 1\n\n[train]\nepoch = 2\n",
                  {"some.toml:4", "unknown key 'epoch' in [train]", "'epochs' in [train]"});
  require_refused("[train]\nnormals = true", {"some.toml:2", "'normals' in [train]", "'normals' in [data]"});
  require_refused("[trian]\nepochs = 2", {"some.toml:1", "[trian]", "[train]"});
  require_refused("sede = 2", {"some.toml:1", "unknown key 'sede'", "'seed'"});
  require_refused("train = 2", {"some.toml:1", "unknown key 'train'"});
}

TEST_CASE("a value of another type or out of range is refused with what was expected") {
  require_refused("[train]\nepochs = 0", {"some.toml:2", "'epochs' in [train]", "an integer of at least 1", "found 0"});
  require_refused("[train]\nepochs = 2.5", {"an integer", "found 2.5"});
  require_refused("[train]\nepochs = \"2\"", {"an integer", "2"});
  require_refused("[train]\nlearning_rate = 0.0", {"'learning_rate'", "a number above 0 and of at most 1"});
  require_refused("[train]\nlearning_rate = nan", {"'learning_rate'", "found nan"});
  require_refused("[data]\nnormals = 1", {"'normals'", "true or false", "found 1"});
  require_refused("[data]\nscales = 1.0", {"'scales'", "a list of numbers", "found 1.0"});
  require_refused("[data]\nscales = [1.0, \"a\"]", {"'scales'", "a list of numbers"});
  require_refused("[data]\nscales = [1, 33333333333333322]", {"'scales'", "a list of numbers", "33333333333333322"});
  require_refused("[model]\nscore = \"product\"", {"'score'", "one of maxout, dot", "product"});
  require_refused("seed = -1", {"'seed'", "an integer of at least 0", "found -1"});
  require_refused("seed = 1979-05-27", {"'seed'", "found 1979-05-27"});
  require_refused("a = 1\nb = = 2", {"some.toml:2"});
}

TEST_CASE("a wrong value on the command line is refused with what was expected") {
  const auto refuse = [](std::vector<const char*> words, const std::vector<std::string>& expected) {
    test::require_error([&] { load("", words); }, expected);
  };
  refuse({"--epochs", "0"}, {"--epochs", "an integer of at least 1", "'0'"});
  refuse({"--epochs", "ten"}, {"--epochs", "an integer", "'ten'"});
  refuse({"--score", "sum"}, {"--score", "one of maxout, dot", "'sum'"});
  refuse({"--learning-rat", "0.1"}, {"unknown option '--learning-rat'", "'--learning-rate'"});
}

namespace {

struct Sized {
  int64_t size = 1;
  double beta = 0.5, gamma = 0.5;
  bool learn = false;

  Config config() {
    Config keys;
    keys.add("", "size", &size, "of it").add("", "beta", &beta, "of large ones").add("", "gamma", &gamma, "of all");
    return keys.add("", "learn_beta", &learn, "let it be learned");
  }
  std::vector<KeyUse> key_uses() const {
    return {{{"beta", "learn_beta"}, size > 1, "large ones", "size " + std::to_string(size)}};
  }
};

}  // namespace

TEST_CASE("an option that nothing uses is refused, and the key in a file is not") {
  const auto said = [](const std::string& toml, const std::vector<std::string>& options) {
    return said_of_unused<Sized>(toml, options);
  };
  CHECK(said("", {"--beta", "0.5"}) == "--beta is for large ones, not for size 1");
  CHECK(said("size = 2", {"--size", "1", "--learn-beta"}) == "--learn-beta is for large ones, not for size 1");
  CHECK(said("", {"--no-learn-beta"}) == "--learn-beta is for large ones, not for size 1");
  CHECK(said("size = 2", {"--beta", "0.5", "--learn-beta"}).empty());
  CHECK(said("beta = 0.1\nlearn_beta = true", {"--gamma", "1"}).empty());
  Options options;
  const Config config = describe(options);
  require_error([&] { config.refuse_unused({KeyUse{{"epoch"}, true, "", ""}}); }, {"'epoch'", "'epochs'"});
}

TEST_CASE("files are read, and a missing one or a folder is refused by name") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::filesystem::path file = folder / "geosft_test_config.toml";
  std::ofstream(file) << "[train]\nepochs = 11\n";
  Options options;
  Config config = describe(options);
  config.load_toml(file);
  CHECK(options.epochs == 11);
  std::ofstream(file) << "[train]\nepochs = 'x'\n";
  test::require_error([&] { config.load_toml(file); }, {file.string() + ":2", "epochs"});
  std::filesystem::remove(file);
  test::require_error([&] { config.load_toml(file); }, {file.string(), "nothing of this name"});
  test::require_error([&] { config.load_toml(folder); }, {folder.string(), "a folder"});
}

TEST_CASE("the help shows every option with its default, grouped by section") {
  Options options;
  Config config = describe(options);
  CLI::App app("tool");
  config.add_options(app);
  const std::string help = app.help();
  for (const std::string text : {"--epochs", "20", "--learning-rate", "0.001", "--normals", "[on]", "--shuffle",
                                 "[off]", "\"maxout\"", "train:", "model:", "data:", "general:"}) {
    INFO(text);
    CHECK(help.find(text) != std::string::npos);
  }
  const std::string table = config.help();
  for (const std::string text : {"[train]", "--epochs 20", "passes over the training set (an integer of at least 1)",
                                 "--scales [0.8, 1.25]", "one of maxout, dot"}) {
    INFO(text);
    CHECK(table.find(text) != std::string::npos);
  }
  CLI::App quiet("tool");
  config.add_options(quiet, false);
  CHECK(quiet.help().find("--epochs") == std::string::npos);
}

TEST_CASE("a key can be described only once") {
  Options options;
  Config config = describe(options);
  CHECK_THROWS_AS(config.add("model", "epochs", &options.epochs, "again"), std::logic_error);
}

TEST_CASE("one key is set from the text of an option") {
  Options options;
  const Config config = describe(options);
  config.assign("learning_rate", "0.5");
  config.assign("normals", "false");
  config.assign("score", "dot");
  config.assign("scales", "1,2");
  Options expected;
  expected.learning_rate = 0.5;
  expected.normals = false;
  expected.score = "dot";
  expected.scales = {1.0, 2.0};
  CHECK(options == expected);
  test::require_error([&] { config.assign("epoch", "3"); }, {"'epoch'", "'epochs'"});
  test::require_error([&] { config.assign("epochs", "0"); }, {"epochs", "at least 1", "'0'"});
  CHECK_THROWS_AS(config.assign("score", "loud"), UsageError);
}

TEST_CASE("some keys of a text are set, unknown ones are ignored") {
  Options options;
  Config config = describe(options);
  const auto selected = [](const std::string& section, const std::string& key) {
    return section == "train" || key == "normals";
  };
  config.set_known(
      "seed = 9\n[train]\nepochs = 7\nunknown = 1\n[data]\nnormals = false\nname = \"other\"\n[new]\nx = 1\n", "text",
      selected);
  Options expected;
  expected.epochs = 7;
  expected.normals = false;
  REQUIRE(options == expected);
  require_error([&] { config.set_known("[train]\nepochs = 0\n", "text", selected); }, {"text", "epochs"});
}

TEST_CASE("the text of an option is known before it is applied") {
  Options options;
  Config config = describe(options);
  CLI::App app("tool");
  config.add_options(app);
  const char* words[] = {"tool", "--epochs", "5"};
  parse_arguments(app, 3, words, std::cout);
  REQUIRE(config.option_text("epochs") == "5");
  REQUIRE(config.option_text("seed") == std::nullopt);
  REQUIRE(options.epochs == 20);
  require_error([&] { config.option_text("epoch"); }, {"epoch"});
}

TEST_CASE("the keys are written as one JSON object each, for the reference") {
  Options options;
  std::istringstream lines(describe(options).json_lines());
  std::vector<nlohmann::json> keys;
  for (std::string line; std::getline(lines, line);) keys.push_back(nlohmann::json::parse(line));
  REQUIRE(keys.size() == 8);
  REQUIRE(keys[0]["section"] == "");
  REQUIRE(keys[0]["key"] == "seed");
  REQUIRE(keys[2] == nlohmann::json{{"section", "train"},
                                    {"key", "learning_rate"},
                                    {"option", "--learning-rate"},
                                    {"former", ""},
                                    {"type", "number"},
                                    {"default", "0.001"},
                                    {"expected", "a number above 0 and of at most 1"},
                                    {"help", "step size"}});
  int64_t samples = 4;
  Config renamed;
  renamed.add("model", "num_samples", &samples, "sampled tokens");
  REQUIRE(nlohmann::json::parse(renamed.json_lines())["former"] == "--bins");
}

}  // namespace geosft::test::test_config
