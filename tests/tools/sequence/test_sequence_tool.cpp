// SPDX-License-Identifier: Apache-2.0
// geosft-sequence, end to end.
#include <c10/util/StringUtil.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/places.h"
#include "tests/tools/all_trainings.h"
#include "tests/tools/experiment/earlier_checkpoint.h"
#include "tests/tools/sequence/sequence_tool.h"
#include "tools/experiment/graph_settings.h"

namespace geosft::test::test_sequence_tool {
namespace fs = std::filesystem;

TEST_CASE("sequences are trained on by the primal-dual family, by a polynomial and by sampling attention") {
  const SequenceShop shop;
  const std::vector<Words> attentions = {
      {"--attention", "bn", "--precision", "bfloat16"},
      {"--attention", "softmax", "--patch-size", "4"},
      {"--attention", "polynomial", "--degree", "4"},
      {"--attention", "bn_sh", "--beta", "0.4"},
      {"--attention", "linear_bn"},
      {"--attention", "sparse_sh", "--mask-size", "4"},
      {"--attention", "conv1d"},
      {"--attention", "sampling", "--probability", "softmax", "--positions", "relative", "--num-samples", "6"}};
  for (const Words& attention : attentions) {
    INFO(attention[1]);
    const nlohmann::json result =
        nlohmann::json::parse(shop.run_well(shop.train(attention[1], attention + Words{"--json"})).out);
    CHECK(result.at("count") == 20);
    CHECK(result.at("metrics").at("accuracy") > 0.8);
  }
}

TEST_CASE("a trained sequence model is evaluated, applied and described") {
  const SequenceShop shop;
  const std::string trained = shop.run_well(shop.train("run", {"--attention", "bn_sh", "--json"})).out;
  const std::string run = (shop / "run").string();
  const nlohmann::json evaluated = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out);
  CHECK(evaluated.at("metrics") == nlohmann::json::parse(trained).at("metrics"));
  CHECK_THAT(shop.run_well({"eval", run}).out, Catch::Contains("20 sequences of the test split"));
  CHECK(lines_of(shop.run_well({"predict", run, "--split", "test", "--json"}).out).size() == 20);
  CHECK_FALSE(evaluated.contains("head_distances"));
  shop.run_well(shop.train("patches", {"--attention", "bn_sh", "--patch-size", "4", "--epochs", "1"}));
  CHECK_THAT(shop.run_well({"info", (shop / "patches").string()}).out, Catch::Contains("\"node_values\":8"));
  const nlohmann::json heads = nlohmann::json::parse(shop.run_well({"eval", run, "--json", "--heads"}).out);
  REQUIRE(heads.at("head_distances").size() == 1);
  CHECK(heads.at("head_distances")[0].at("tokens") > 0.0);
  CHECK(heads.at("head_distances")[0].at("items") > heads.at("head_distances")[0].at("tokens"));
  CHECK_THAT(shop.run_well({"eval", run, "--heads"}).out, Catch::Contains("layer 1: the attention of two heads is "));
  CHECK_THAT(shop.run_well({"info", shop.data().string()}).out, Catch::Contains("60 sequences"));
  const nlohmann::json data = nlohmann::json::parse(shop.run_well({"info", shop.data().string(), "--json"}).out);
  CHECK((data.at("kind") == "dataset" && data.at("items") == "sequences" && data.at("count") == 60));
  CHECK((data.at("min_steps") == 12 && data.at("max_steps") == 18 && data.at("step_values") == 2));
  CHECK((data.at("split").at("train") == 40 && data.at("outputs") == Words{"slow", "fast"}));
  CHECK_FALSE(data.contains("edges"));
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("attention = \"bn_sh\""));
}

TEST_CASE("heads are compared where there are several of primal-dual attention") {
  const SequenceShop shop;
  const auto refused = [&](const std::string& name, const Words& model, const Words& expected) {
    shop.run_well(shop.train(name, model + Words{"--epochs", "1"}));
    shop.refuses({"eval", (shop / name).string(), "--heads"}, 2, expected);
  };
  refused("polynomial", {"--attention", "polynomial"}, {"--heads", "polynomial"});
  refused("sampling", {"--attention", "sampling", "--num-samples", "6"}, {"--heads", "sampling"});
  refused("one", {"--attention", "bn", "--num-heads", "1"}, {"--heads", "bn", "heads 1"});
}

TEST_CASE("pairs of documents are told apart by what they have in common") {
  const SequenceShop shop;
  std::string pairs;
  for (int i = 0; i < 48; ++i) {
    const char first = i % 4 < 2 ? 'a' : 'z', second = i % 2 == 0 ? 'a' : 'z';
    const std::string a(3 + static_cast<size_t>(i % 5), first), b(4 + static_cast<size_t>(i % 3), second);
    pairs += c10::str(first == second, "\tP\tQ\t", a, "\t", b, "\n");
  }
  write_text(shop / "pairs/set.train.tsv", pairs);
  write_text(shop / "pairs/set.test.tsv", pairs);
  const Words words = {"--data", (shop / "pairs").string(), "--attention", "bn_sh", "--json"};
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train("run", words)).out);
  CHECK(result.at("count") == 48);
  CHECK(result.at("metrics").at("accuracy") > 0.95);
  CHECK_THAT(shop.run_well({"info", (shop / "run").string()}).out, Catch::Contains("\"documents\":true"));
  shop.require_failure(shop.run(shop.train("patches", words + Words{"--patch-size", "2"})), 2, {"patch_size", "texts"});
}

// One of every version of the format: sequence_checkpoint_1.ckpt is the last checkpoint of 10 epochs on the waves, with
// `--attention bn_sh --no-relative --positions added --dim 8 --num-heads 2 --depth 1 --batch-size 8 --lr 1e-2
// --beta2 0.9`, and its prediction for a fast one.
TEST_CASE("checkpoints of sequences that earlier versions left are used and gone on from") {
  require_used_and_gone_on(SequenceShop(), "sequence_checkpoint_1", {"--sequences", "7"}, "fast", 0.59834, 11);
}

TEST_CASE("a sweep over attentions ends with a table") {
  const SequenceShop shop;
  const Words sweep = Words{"sweep", "--data", shop.data().string(), "--out", (shop / "sweep").string()} +
                      Words{"--set", "dim=8", "--set", "num_heads=2", "--set", "depth=1", "--set", "epochs=1"} +
                      Words{"--set", "relative=false", "--set", "beta=0.4", "--vary", "attention=softmax,bn,sh"};
  CHECK(lines_of(shop.run_well(sweep).out).size() == 2 + 3);
}

TEST_CASE("a sweep refuses a key that the data make no use of, unless one of its configurations does") {
  const SequenceShop shop;
  const Words sweep = Words{"sweep", "--data", shop.data().string(), "--out", (shop / "sweep").string()} +
                      Words{"--set", "dim=8", "--set", "num_heads=2", "--set", "depth=1", "--set", "epochs=1"} +
                      Words{"--set", "relative=false", "--set", "attention=softmax"};
  shop.refuses(sweep + Words{"--vary", "regression_loss=l1,mse"}, 2,
               {"regression_loss is for regression, not for classes"});
  shop.refuses(sweep + Words{"--set", "refit=true"}, 2, {"refit is for a validation split, not for data without one"});
  CHECK_FALSE(fs::exists(shop / "sweep"));
  const Words some_use = {"--set", "refit=true", "--vary", "validation_fraction=0,0.2"};
  CHECK(lines_of(shop.run_well(sweep + some_use).out).size() == 2 + 2);
}

TEST_CASE("geosft-sequence speaks of sequences") {
  const SequenceShop shop;
  for (const char* subcommand : {"train", "eval", "predict", "info", "report", "sweep", "list"}) {
    std::string help = shop.run_well({subcommand, "--help"}).out;
    help.resize(std::min(help.size(), help.find("\ngeneral:")));  // the keys of all items follow
    for (const char* word : {"graph", "node", "edge", "OGB"}) {
      INFO(subcommand);
      CHECK_THAT(help, !Catch::Contains(word, Catch::CaseSensitive::No));
    }
  }
  const std::string keys = shop.run_well({"train", "--help"}).out;
  CHECK_THAT(keys, Catch::Contains("--max-length"));
  for (const char* option :
       {"--fingerprint", "--descriptors", "--statistics", "--chiral-tags", "--directed", "--atom-references"}) {
    CHECK_THAT(keys, !Catch::Contains(option));
  }
  CHECK_THAT(keys, Catch::Contains("dataset of sequences: a folder") && !Catch::Contains("CSV table"));
  GraphSettings refused;
  refused.data = shop.data().string();
  refused.splits.split = SplitKind::folds;
  size_t hidden = 0;
  for (const KeyUse& use : refused.key_uses()) {
    // Other keys are refused for the sake of other options, and pictures are sequences, too.
    if (use.used || use.purpose == "folders of pictures") continue;
    if (use.instead.find(refused.data) == std::string::npos) continue;
    for (const std::string& key : use.keys) {
      CHECK_THAT(keys, !Catch::Contains(option_name(key)));
      ++hidden;
    }
  }
  CHECK(hidden == 7);
  CHECK_THAT(shop.run_well({"info", shop.data().string()}).out,
             Catch::Contains("60 sequences, ") && Catch::Contains("12 to 18 steps each") &&
                 Catch::Contains("step values: 2") && !Catch::Contains("node"));
  shop.run_well(shop.train("run", {"--attention", "bn", "--epochs", "1"}));
  const std::string run = (shop / "run").string();
  const Words some = lines_of(shop.run_well({"predict", run, "--sequences", "7,2", "--json"}).out);
  REQUIRE(some.size() == 2);
  CHECK(nlohmann::json::parse(some[0]).at("sequence") == 7);
  shop.require_failure(shop.run({"predict", run, "--sequences", "60"}), 2, {"--sequences", "0 … 59", "60"});
  shop.require_failure(shop.run({"eval", run, "--renumber", "2"}), 2, {"--renumber"});
  const nlohmann::json evaluated = nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out);
  CHECK(evaluated.at("sequences_per_second") > 0);
  for (const char* word : {"renumberings", "max_logit_difference", "prediction_agreement"}) {
    CHECK_FALSE(evaluated.contains(word));
  }
}

TEST_CASE("geosft-sequence lists its models, and says whose a pretrained model of another tool is") {
  const SequenceShop shop;
  const ProcessResult list = shop.run_well({"list"});
  CHECK(list.out.empty());
  CHECK_THAT(list.err, Catch::Contains("geosft-sequence has no pretrained models: train one"));
  CHECK(nlohmann::json::parse(shop.run_well({"list", "--json"}).out).at("models").empty());
  shop.require_failure(shop.run({"info", "furniture"}), 1,
                       {"a pretrained model of geosft-sequence", "one of geosft-classify"});
}

TEST_CASE("predict takes series without classes") {
  const SequenceShop shop;
  shop.run_well(shop.train("run", {"--attention", "bn", "--epochs", "1", "--patch-size", "2"}));
  const std::string run = (shop / "run").string(), known = (shop.data() / "Waves_TEST.ts").string();
  // The series of the test split, without their classes.
  std::string text = read_text(known), bare;
  for (const std::string& line : lines_of(text)) {
    const bool series = line[0] != '@';
    if (line.starts_with("@classLabel"))
      bare += "@classLabel false\n";
    else
      bare += (series ? line.substr(0, line.rfind(':')) : line) + "\n";
  }
  write_text(shop / "new.ts", bare);
  const Words expected = lines_of(shop.run_well({"predict", run, "--split", "test", "--json"}).out);
  for (const std::string& file : {(shop / "new.ts").string(), known}) {
    const Words found = lines_of(shop.run_well({"predict", run, file, "--json"}).out);
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const nlohmann::json line = nlohmann::json::parse(found[i]), dataset = nlohmann::json::parse(expected[i]);
      CHECK((line.at("file") == file && line.at("sequence") == i));
      CHECK(line.at("class") == dataset.at("class"));
      CHECK(line.at("probability").get<double>() == Approx(dataset.at("probability").get<double>()).margin(1e-5));
    }
  }
  // A folder and a pattern are the files in them, and a broken one does not stop the others.
  write_text(shop / "many/a.TS", bare);
  write_text(shop / "many/b.ts", "@classLabel false\n@data\n1,2,three\n");
  write_text(shop / "many/deep/c.ts", bare);
  const std::string table = (shop / "table.csv").string(), folder = (shop / "many").string();
  const ProcessResult many = shop.run({"predict", run, folder, "--json", "--csv", table});
  CHECK((many.exit == 1 && lines_of(many.out).size() == 2 * expected.size() + 1));
  CHECK_THAT(many.err, Catch::StartsWith("geosft-sequence: error: ") && Catch::Contains("b.ts:3"));
  const Words rows = lines_of(read_text(table));
  REQUIRE(rows.size() == 2 + 2 * expected.size());
  CHECK_THAT(rows[0], Catch::StartsWith("file,sequence,name,class,probability,") && Catch::EndsWith(",error"));
  CHECK_THAT(rows[1], Catch::StartsWith(folder + "/a.TS,0,,") && Catch::EndsWith(","));
  CHECK_THAT(rows[1 + expected.size()], Catch::StartsWith(folder + "/b.ts,,,") && Catch::Contains("b.ts:3"));
  CHECK(lines_of(shop.run_well({"predict", run, folder + "/*.TS"}).out).size() == expected.size());
  write_text(shop / "one.ts", "@classLabel false\n@data\n1,2,3\n");
  shop.require_failure(shop.run({"predict", run, (shop / "one.ts").string()}), 1,
                       {"one.ts", "2 values a step", "found series of 1"});
  write_text(shop / "new.wav", "RIFF");
  shop.require_failure(shop.run({"predict", run, (shop / "new.wav").string()}), 1, {"new.wav", "*.ts", "*.arff"});
  fs::create_directories(shop / "other");
  write_text(shop / "other/X_TRAIN.wav", "RIFF");
  shop.require_failure(
      shop.run({"info", (shop / "other").string()}), 1,
      {"other", "*_TRAIN.ts", "*_TRAIN.tsv", "*_TRAIN.arff", "train-images-idx3-ubyte", "none of these"});
  shop.require_failure(shop.run({"info", (shop / "new.wav").string()}), 1, {"new.wav", "*_TRAIN.ts"});
  const std::string of_set = (shop.data() / "Waves_TRAIN.ts").string();
  shop.require_failure(shop.run({"train", "--data", of_set, "--out", (shop / "no").string()}), 1,
                       {of_set, "found a file; the dataset is its folder, " + shop.data().string()});
  write_text(shop / "series.csv", "id,t0,t1,label\na,1,2,fast\nb,3,4,slow\n");
  const std::string csv = (shop / "series.csv").string();
  for (const Words& words :
       {Words{"info", csv}, Words{"train", "--data", csv, "--epochs", "1", "--out", (shop / "no").string()}}) {
    const ProcessResult refused = shop.run(words);
    shop.require_failure(refused, 1, {"series.csv", "*_TRAIN.ts", "NAME_TRAIN.ts"});
    CHECK_THAT(refused.err, !Catch::Contains("SMILES") && !Catch::Contains("edge"));
  }
}

TEST_CASE("predict takes texts, a file each, as those of a dataset") {
  const SequenceShop shop;
  const fs::path texts = shop / "texts";
  for (const char* split : {"train", "test"}) {
    for (int i = 0; i < 12; ++i) {
      const std::string name = std::to_string(i) + ".txt";
      write_text(texts / split / "calm" / name, "la la la, and so on" + std::string(static_cast<size_t>(i), '.'));
      write_text(texts / split / "loud" / name, "OH! NO! IT IS " + std::to_string(i) + "!");
    }
  }
  const Words training =
      with(with(shop.train("run", {"--max-length", "15", "--attention", "softmax"}), "--data", texts.string()),
           "--epochs", "3");
  CHECK_THAT(shop.run_well(training).err, !Catch::Contains("does not see the order"));
  const std::string run = (shop / "run").string(), folder = (texts / "test" / "loud").string();
  const Words of_dataset = lines_of(shop.run_well({"predict", run, "--split", "test", "--json"}).out);
  const Words of_files = lines_of(shop.run_well({"predict", run, folder, "--json"}).out);
  REQUIRE(of_files.size() == 12);
  REQUIRE(of_dataset.size() == 24);
  for (size_t i = 0; i < of_files.size(); ++i) {  // the second class follows the first, both by the names of the files
    const nlohmann::json file = nlohmann::json::parse(of_files[i]), item = nlohmann::json::parse(of_dataset[12 + i]);
    CHECK_THAT(file.at("file").get<std::string>(), Catch::StartsWith(folder));
    CHECK(file.at("probability").get<double>() == Approx(item.at("probability").get<double>()).margin(1e-5));
  }
  write_text(shop / "empty.txt", "");
  shop.require_failure(shop.run({"predict", run, (shop / "empty.txt").string()}), 1,
                       {"empty.txt", "a text", "an empty"});
  shop.run_well(with(shop.train("series", {"--attention", "softmax"}), "--epochs", "1"));
  shop.require_failure(shop.run({"predict", (shop / "series").string(), folder + "/0.txt"}), 1,
                       {"0.txt", "what the model was trained on, no texts", "found a text"});
}

TEST_CASE("a model of sequences that does not see their order says so") {
  const SequenceShop shop;
  const auto says = [&](const std::string& attention, const std::string& positions) {
    const Words words = shop.train(attention + "_" + positions, {"--attention", attention});
    const ProcessResult result = shop.run_well(with(with(words, "--positions", positions), "--epochs", "1"));
    return result.err.find("positions none: this model does not see the order of the steps") != std::string::npos;
  };
  CHECK(says("softmax", "none"));
  CHECK_FALSE(says("softmax", "added"));
  CHECK_FALSE(says("conv1d", "none"));
}

TEST_CASE("wrong use of geosft-sequence is one line") {
  const SequenceShop shop;
  const auto refused = [&](const Words& more, int exit, const Words& expected) {
    shop.require_failure(shop.run(shop.train("run", more)), exit, expected);
  };
  refused({"--attention", "cosine"}, 2, {"attention", "cosine", "softmax"});
  refused({"--attention", "conv2d"}, 2, {"conv2d", "grid"});
  refused({"--attention", "sh", "--pool", "1,2"}, 2, {"pool", "4 heads"});
  write_text(shop.data() / "Waves_TEST.ts", "@timeStamps true\n");
  refused({}, 1, {"Waves_TEST.ts", "time stamps"});
}

TEST_CASE("an option that the attention does not use is refused, but not in a file or of a resumed run") {
  const SequenceShop shop;
  const Words softmax = {"--attention", "softmax", "--epochs", "1"};
  shop.refuses(shop.train("run", softmax + Words{"--beta", "0.4"}), 2,
               {"--beta is for the bn attentions, not for attention softmax"});
  CHECK_FALSE(fs::exists(shop / "run"));
  write_text(shop / "file.toml", "[model]\nbeta = 0.4\nbins = 7\n");
  shop.run_well(shop.train("run", softmax + Words{"--config", (shop / "file.toml").string()}));
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("beta = 0.4"));
  shop.run_well({"train", "--resume", "--out", (shop / "run").string(), "--epochs", "2", "--beta", "0.4"});
}

TEST_CASE("an option that the data make no use of is refused, but not in a file") {
  const SequenceShop shop;
  shop.refuses(shop.train("run", {"--refit"}), 2, {"--refit is for a validation split, not for data without one"});
  shop.refuses(shop.train("run", {"--regression-loss", "mse"}), 2,
               {"--regression-loss is for regression, not for classes"});
  CHECK_FALSE(fs::exists(shop / "run"));
  shop.run_well(shop.train("held_out", {"--refit", "--validation-fraction", "0.2", "--epochs", "1"}));
  CHECK(fs::exists(shop / "held_out/selection"));
  write_text(shop / "file.toml", "[splits]\nrefit = true\n[train]\nregression_loss = 'mse'\n");
  shop.run_well(shop.train("file", {"--config", (shop / "file.toml").string(), "--no-refit", "--epochs", "1"}));
  CHECK_THAT(read_text(shop / "file" / "config.toml"), Catch::Contains("regression_loss = \"mse\""));
  shop.run_well(shop.train("refit", {"--config", (shop / "file.toml").string(), "--epochs", "1"}));
  CHECK_FALSE(fs::exists(shop / "refit/selection"));
}

TEST_CASE("the configuration for any set derives its values, says them and stores them in the RUN") {
  const SequenceShop shop;
  const Words words = {"train",
                       "--config",
                       source_path("tools/configs/sequence/uea.toml"),
                       "--data",
                       shop.data().string(),
                       "--dim",
                       "16",
                       "--num-heads",
                       "4",
                       "--depth",
                       "1"};
  const Words out = {"--out", (shop / "run").string()};
  const ProcessResult trained = shop.run_well(words + out + Words{"--epochs", "10", "--json"});
  CHECK_THAT(trained.err,
             Catch::Contains(
                 "automatic, for 40 training sequences, before any are held out, of at most 18 steps: patch_size 1") &&
                 Catch::Contains("validation_fraction 0.2") && Catch::Contains("beta 0.5") &&
                 !Catch::Contains("epochs 400") && Catch::Contains("training on 32 sequences") &&
                 Catch::Contains("training on 40 sequences, validation on 0"));
  CHECK(nlohmann::json::parse(trained.out).at("count") == 20);
  const std::string config = read_text(shop / "run" / "config.toml");
  CHECK_THAT(config, Catch::Contains("patch_size = 1\n") && Catch::Contains("beta = 0.5\n") &&
                         Catch::Contains("\"PEMS-SF\" = [0.25, 0.35]") && !Catch::Contains("epochs = \"auto\""));
  CHECK_THAT(read_text(shop / "run/selection/metrics.csv"), Catch::Contains(",validation,"));
  CHECK_THAT(read_text(shop / "run/metrics.csv"), !Catch::Contains(",validation,"));
  shop.run_well({"train", "--resume", "--out", (shop / "run").string()});
  shop.run_well({"eval", (shop / "run").string()});
  const Words sweep = {"sweep", words[2],   "--data", shop.data().string(), "--out", (shop / "sweep").string(),
                       "--set", "dim=8",    "--set",  "num_heads=2",        "--set", "depth=1",
                       "--set", "epochs=1", "--vary"};
  shop.run_well(sweep + Words{"attention=sparse_bn"});
  CHECK(lines_of(shop.run_well(sweep + Words{"attention=sparse_bn,linear"}).out).size() == 2 + 2);  // continued
  shop.refuses(words + Words{"--out", (shop / "b").string(), "--lr", "auto"}, 2, {"--lr", "above 0", "auto"});
}

TEST_CASE("the configuration for any set takes sets of extreme shapes") {
  struct Shape {
    const char* name;
    int series, classes, dimensions, steps;
    const char* said;
  };
  const SequenceShop shop;
  for (const Shape& shape :
       {Shape{"two", 2, 2, 1, 30, "patch_size 1, batch_size 16, validation_fraction 0.0"},
        Shape{"step", 12, 3, 2, 1, "patch_size 1, batch_size 16, validation_fraction 0.2"},
        Shape{"wide", 9, 2, 600, 40, "patch_size 1, batch_size 16, validation_fraction 0.2"},
        Shape{"long", 6, 2, 1, 3000, "patch_size 32"}, Shape{"classes", 20, 20, 1, 9, "validation_fraction 0.0"}}) {
    std::string text = c10::str("@missing true\n@dimensions ", shape.dimensions, "\n@classLabel true");
    for (int label = 0; label < shape.classes; ++label) text += c10::str(" c", label);
    text += "\n@data\n";
    for (int i = 0; i < shape.series; ++i) {
      for (int d = 0; d < shape.dimensions; ++d) {
        for (int t = 0; t < shape.steps; ++t) text += c10::str(t > 0 ? "," : "", (i * 31 + d * 7 + t * t) % 13);
        text += ":";
      }
      text += c10::str("c", i % shape.classes, "\n");
    }
    write_text(shop / shape.name / "S_TRAIN.ts", text);
    write_text(shop / shape.name / "S_TEST.ts", text);
    const ProcessResult result = shop.run_well(
        {"train", "--config", source_path("tools/configs/sequence/uea.toml"), "--data", (shop / shape.name).string(),
         "--out", (shop / "runs" / shape.name).string(), "--epochs", "1", "--dim", "16", "--json"});
    CHECK_THAT(result.err, Catch::Contains(shape.said));
    CHECK(nlohmann::json::parse(result.out).at("count") == shape.series);
  }
}

TEST_CASE("series with a target are regressed, and judged by the root mean squared error") {
  const SequenceShop shop;
  const auto series = [](int count, int first) {
    std::string text = "@timeStamps false\n@univariate true\n@targetLabel true\n@data\n";
    for (int i = first; i < first + count; ++i) {
      const double level = std::sin(1.7 * i);
      for (int t = 0; t < 8; ++t) text += c10::str(t > 0 ? "," : "", level + 0.1 * std::cos(t + i));
      text += c10::str(":", 10.0 + 5.0 * level, "\n");
    }
    return text;
  };
  write_text(shop / "levels/Levels_TRAIN.ts", series(60, 0));
  write_text(shop / "levels/Levels_TEST.ts", series(20, 60));
  const std::string config = source_path("tools/configs/sequence/regression.toml");
  const Words words =
      Words{"train", "--config", config, "--data", (shop / "levels").string(), "--out", (shop / "run").string()} +
      Words{"--dim", "16", "--num-heads", "4", "--epochs", "60", "--lr", "3e-3", "--patch-size", "2", "--json"};
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(words).out);
  CHECK(result.at("task") == "regression");
  CHECK(result.at("metrics").at("rmse") < 1.0);
  CHECK_THAT(read_text(shop / "run/selection/metrics.csv"), Catch::Contains(",rmse,"));
  CHECK_THAT(shop.run_well({"eval", (shop / "run").string()}).out, Catch::Contains("rmse "));
  const Words refitted = {"eval", (shop / "run").string(), "--split"};
  CHECK(nlohmann::json::parse(shop.run_well(refitted + Words{"train", "--json"}).out).at("count") == 60);
  shop.refuses(refitted + Words{"validation"}, 2, {"--split validation", "the refit was trained on its items"});
  const std::string held_out = (shop / "run/selection").string();
  CHECK(nlohmann::json::parse(shop.run_well({"eval", held_out, "--split", "validation", "--json"}).out).at("count") <
        60);
  const std::string table = (shop / "table.csv").string();
  shop.run_well({"predict", (shop / "run").string(), "--csv", table});
  CHECK_THAT(read_text(table), Catch::StartsWith("file,sequence,name,target,target_target,error\n"));
  shop.run_well({"report", (shop / "run").string(), "--mistakes", "4"});
  const std::string page = read_text(shop / "run/report.html");
  CHECK_THAT(page, Catch::Contains("20 sequences of the test split") && Catch::Contains("<td>target</td><td>20</td>"));
  CHECK(count_of(page, "<section ") == 4);
  write_text(shop / "new.ts", "@classLabel false\n@data\n1,1,1,1\n");
  const ProcessResult predicted =
      shop.run_well({"predict", (shop / "run").string(), (shop / "new.ts").string(), "--json"});
  CHECK(nlohmann::json::parse(predicted.out).at("values").at("target").get<double>() == Approx(15).margin(2.5));
  for (const char* lost : {"last.ckpt", "result.json"}) fs::remove(shop / "run" / lost);
  shop.require_failure(shop.run({"train", "--resume", "--out", (shop / "run").string()}), 1,
                       {(shop / "run/last.ckpt").string(), "none"});
}

TEST_CASE("BasicMotions is learned from its files") {
  const fs::path data = real_data("uea/BasicMotions");
  if (data.empty()) return;
  const SequenceShop shop;
  const Words words = {"--data", data.string(), "--epochs", "30", "--attention", "bn_sh", "--beta", "0.1", "--json"};
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train("run", words)).out);
  CHECK(result.at("count") == 40);
  CHECK(result.at("metrics").at("accuracy") > 0.8);
}

}  // namespace geosft::test::test_sequence_tool
