// SPDX-License-Identifier: Apache-2.0
// geosft-graph train, end to end.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <set>

#include "tests/places.h"
#include "tests/tools/experiment/earlier_checkpoint.h"
#include "tests/tools/experiment/non_finite_batch.h"
#include "tests/tools/experiment/same_runs.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_train_command {
namespace fs = std::filesystem;

TEST_CASE("train on graphs leaves a complete run and prints the evaluation") {
  const GraphShop shop;
  const auto [json, said] = shop.require_complete_run({"--validation-fraction", "0.2"}, "-1\n1\n");
  check_graph_evaluation(json, "test", 6);
  const fs::path run = shop / "run";
  CHECK_THAT(read_text(run / "metrics.csv"), Catch::StartsWith("step,epoch,split,loss,accuracy,learning_rate,seconds,"
                                                               "graphs_per_second,waiting\n"));
  CHECK(lines_of(read_text(run / "metrics.csv")).size() == 1 + 3 + 1);
  const bool drawn = has_gnuplot();
  for (const char* name : {"learning_curves.svg", "confusion_test.svg"}) CHECK(fs::exists(run / name) == drawn);
}

TEST_CASE("a training of graphs without a configuration has sizes that fit its data, and a validation split") {
  const GraphShop shop;
  const fs::path large = shop / "large";
  write_tiny_graphs(large, "TINY", 12);
  const Words words = {"train", "--data", large.string(), "--out", (shop / "run").string(), "--epochs", "1"};
  const ProcessResult small = shop.run_well(words + Words{"--validation-fraction", "0.2"});
  CHECK_THAT(
      small.err,
      Catch::Contains(
          "without --config: a small model that fits the data; --preset paper has the sizes of the paper. The model "
          "is averaged with a kernel ridge regression, which --no-kernel-ridge leaves out\n") &&
          Catch::Contains(
              "automatic, for 22 training graphs, before any are held out, of at most 17 nodes: dim 32, num_heads "
              "4, depth 3, num_samples 8, batch_size 16, ema_decay 0.0"));
  CHECK_THAT(
      small.out,
      Catch::Contains(" on the test split\ntest figures are of the average of best.ckpt and a kernel ridge regression\n"
                      "best.ckpt: epoch 1 of 1, the best on"));
  CHECK_THAT(read_text(shop / "run/config.toml"),
             Catch::Contains("norm = \"pre\"") && Catch::Contains("encoding = \"rwpe\""));
  CHECK_THAT(shop.run_well({"train", "--list-keys"}).out, Catch::Contains("--dim \"auto\""));
  CHECK_THAT(shop.run_well({"train", "--list-keys", "--preset", "paper"}).out, Catch::Contains("--dim 144"));
  CHECK_THAT(shop.run_well({"train", "--list-keys", "--data", "mine.csv"}).out, Catch::Contains("--dim \"auto\""));
}

TEST_CASE("graphs without SMILES have a regression on their labels and statistics, and predictions have it, too") {
  const GraphShop shop;
  const Words features = {"--fingerprint", "wl0,wl1,wl2", "--fingerprint-bits", "64", "--statistics", "--kernel-ridge"};
  const ProcessResult trained = shop.run_well(shop.train("run", features + Words{"--no-head-features", "--json"}));
  CHECK_THAT(trained.err,
             Catch::Contains("fitting a kernel ridge regression to 18 graphs\n") && Catch::Contains("; weight 0.5\n"));
  const std::string run = (shop / "run").string(), alone = run + "/best.ckpt", data = shop.data().string();
  const auto metrics = [](const ProcessResult& result) { return nlohmann::json::parse(result.out).at("metrics"); };
  CHECK(metrics(shop.run_well({"eval", run, "--json"})) == metrics(trained));
  CHECK(metrics(shop.run_well({"eval", alone, "--json"})) != metrics(trained));
  // A regression that sees all labels around a node tells cycles from stars, of graphs that it has not seen either.
  CHECK(metrics(trained).at("roc_auc") == 1.0);
  const std::string both = shop.run_well({"predict", run, data}).out;
  CHECK(lines_of(both).size() == 24);
  CHECK(both != shop.run_well({"predict", alone, data}).out);
  // The head sees them unless it is told not to, and a network that does is another one.
  const ProcessResult seen = shop.run_well(shop.train("seen", features + Words{"--head-layers", "2", "--json"}));
  CHECK(metrics(seen).contains("accuracy"));
  CHECK_THAT(read_text(shop / "seen/config.toml"), Catch::Contains("statistics = true"));
  shop.refuses(shop.train("none", {"--statistics", "--no-head-features"}), 2, {"--statistics", "kernel_ridge = true"});
  write_text(shop / "unseen.toml", "[molecules]\nfingerprint = 'wl1'\nhead_features = false\n");
  const ProcessResult unseen =
      shop.run_well(shop.train("unseen", {"--config", (shop / "unseen.toml").string(), "--json"}));
  CHECK_FALSE(std::filesystem::exists(shop / "unseen/kernel.ckpt"));
  CHECK_THAT(unseen.err, Catch::Contains("are left out: head_features and kernel_ridge are false\n"));
  write_text(shop / "unseen.toml", "[molecules]\nfingerprint = 'wl1'\nstatistics = true\nhead_fingerprints = false\n");
  const Words partly = {"--config", (shop / "unseen.toml").string()};
  shop.run_well(shop.train("partly", partly));
  shop.run_well({"predict", (shop / "partly").string(), data});
  shop.refuses(shop.train("none", partly + Words{"--fingerprint", "wl2"}), 2,
               {"--fingerprint", "head_fingerprints = true or kernel_ridge = true"});
  shop.refuses(shop.train("none", {"--statistics", "--no-head-fingerprints"}), 2,
               {"--head-fingerprints", "fingerprint none"});
  // Trains the network alone where there are no features to fit the regression to.
  const Words bare = {"train",   "--data", shop.data().string(), "--out", (shop / "bare").string(), "--epochs", "1",
                      "--folds", "4"};
  CHECK_THAT(shop.run_well(bare + Words{"--fingerprint", "none", "--no-statistics"}).err,
             Catch::Contains("kernel_ridge is left out: it needs fingerprints, descriptors or statistics\n"));
  CHECK(metrics(unseen) == metrics(shop.run_well({"eval", alone, "--json"})));
  shop.refuses(shop.train("none", {"--kernel-ridge"}), 2, {"--kernel-ridge", "--fingerprint wl0,wl1,wl2,wl3"});
}

TEST_CASE("the small preset fits what a configuration file names") {
  const GraphShop shop;
  write_text(shop / "molecules.csv", "name,SMILES,y\na,CO,1\n");
  const std::string data = "data = '" + (shop / "molecules.csv").string() + "'\n";
  write_text(shop / "molecules.toml", data);
  write_text(shop / "sampling.toml", data + "[model]\nattention = 'sampling'\n");
  const auto keys = [&](const std::string& file) {
    return shop.run_well({"train", "--list-keys", "--preset", "small", "--config", (shop / file).string()}).out;
  };
  CHECK_THAT(keys("molecules.toml"), Catch::Contains("--dim 128"));
  CHECK_THAT(keys("sampling.toml"), Catch::Contains("--dim \"auto\"") && Catch::Contains("--attention \"sampling\""));
  CHECK_THAT(shop.run_well({"train", "--list-keys", "--epochs", "7"}).out, Catch::Contains("--epochs 7 "));
}

TEST_CASE("training on graphs learns what tells them apart") {
  const GraphShop shop;
  const Words more = {"--json", "--epochs", "60", "--drop-token-rate", "0", "--feed-forward-dropout", "0"};
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train("run", more)).out);
  CHECK(result.at("metrics").at("accuracy") > 0.8);
}

TEST_CASE("a graph run lists the items of its splits, which a resumed one keeps") {
  const GraphShop shop;
  const std::filesystem::path run = shop / "run";
  shop.run_well(shop.train("run", {"--validation-fraction", "0.25"}));
  const Words lines = lines_of(read_text(run / "split.csv"));
  REQUIRE(lines.size() == 25);
  CHECK(lines[0] == "split,item,name,label");
  std::set<std::string> items;
  std::map<std::string, int> counts;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t comma = lines[i].find(',');
    ++counts[lines[i].substr(0, comma)];
    items.insert(lines[i].substr(comma));
  }
  CHECK(items.size() == 24);
  CHECK(counts["train"] + counts["validation"] == 18);
  CHECK(counts["validation"] >= 4);
  CHECK(counts["test"] == 6);
  const std::string csv = read_text(run / "split.csv");
  shop.run_well({"train", "--resume", "--out", run.string(), "--epochs", "4"});
  CHECK(read_text(run / "split.csv") == csv);
  const std::string result = read_text(run / "result.json"), other = "split,item,name,label\ntest" + csv.substr(27);
  write_text(run / "split.csv", other);  // as if the first training graph had been one to test with
  const Words expected = {shop.data().string(), "split.csv", "of the test split and is of the train split"};
  shop.require_failure(shop.run({"train", "--resume", "--out", run.string(), "--epochs", "5"}), 1, expected);
  CHECK((read_text(run / "split.csv") == other && read_text(run / "result.json") == result));
  for (const char* command : {"eval", "predict"}) {
    shop.refuses({command, run.string(), "--split", "test"}, 1, expected);
    shop.refuses({command, (run / "best.ckpt").string(), "--split", "test"}, 1, expected);
  }
  shop.run_well({"predict", run.string()});
  fs::remove(run / "split.csv");  // as runs of earlier versions
  shop.run_well({"eval", run.string()});
}

TEST_CASE("runs over seeds and folds end with a table, and are continued") {
  const GraphShop shop;
  const Words words = shop.train("runs", {"--num-seeds", "2", "--cross-validation", "--epochs", "1"});
  const Words table = lines_of(shop.run_well(words).out);
  REQUIRE(table.size() == 2 + 8 + 1);
  CHECK_THAT(table[0], Catch::StartsWith("| run | accuracy (%) |"));
  CHECK_THAT(table[2], Catch::StartsWith("| seed_3_fold_0 |"));
  CHECK_THAT(table[9], Catch::StartsWith("| seed_4_fold_3 |"));
  CHECK_THAT(table[10], Catch::StartsWith("| mean ± deviation |") && Catch::Contains(" ± "));
  const fs::path runs = shop / "runs";
  CHECK(lines_of(read_text(runs / "table.md")) == table);
  CHECK(lines_of(read_text(runs / "table.csv")).size() == 1 + 8 + 1);
  CHECK_THAT(read_text(runs / "seed_4_fold_3" / "config.toml"),
             Catch::Contains("seed = 4") && Catch::Contains("fold = 3") && Catch::Contains("cross_validation = false"));
  // As if it had been stopped before the last run.
  const std::string last = read_text(runs / "seed_4_fold_3" / "best.ckpt");
  fs::remove_all(runs / "seed_4_fold_3");
  fs::remove(runs / "table.md");
  const std::string again = shop.run_well({"train", "--resume", "--out", runs.string(), "--json"}).out;
  CHECK(lines_of(read_text(runs / "table.md")) == table);
  CHECK(read_text(runs / "seed_4_fold_3" / "best.ckpt") == last);
  const nlohmann::json json = nlohmann::json::parse(again);
  CHECK(json.at("task") == "classification");
  CHECK(json.at("count") == 24);
  CHECK(json.at("repeats") == 2);
  CHECK(json.at("folds") == 4);
  CHECK(json.at("runs").size() == 8);
  CHECK(json.at("deviations").at("accuracy").is_number());
}

TEST_CASE("a graph run that is killed or interrupted resumes bit for bit") {
  const GraphShop shop;
  const Words words = Words{"--epochs", "24", "--validation-fraction", "0.2", "--validate-every", "3"} +
                      Words{"--checkpoint-every", "3", "--ema-decay", "0.9", "--encoding", "lappe", "--threads", "1"};
  const fs::path whole = shop / "whole", killed = shop / "killed", stopped = shop / "stopped";
  shop.run_well(shop.train("whole", words));
  const auto until = [&](const char* out, size_t lines, int signal) {
    return train_until(program_path("geosft-graph"), shop.train(out, words), shop.process(), shop / out / "metrics.csv",
                       lines, signal);
  };
  REQUIRE(until("killed", 12, SIGKILL).signal == SIGKILL);
  shop.run_well({"train", "--resume", "--out", killed.string()});
  require_same_run(whole, killed);
  const ProcessResult interrupted = until("stopped", 9, SIGINT);
  CHECK(interrupted.exit == 130);
  CHECK_THAT(lines_of(interrupted.err).back(),
             Catch::Contains("saved in " + (stopped / "last.ckpt").string()) &&
                 Catch::EndsWith("geosft-graph train --resume --out " + stopped.string() + " --threads 1"));
  shop.run_well({"train", "--resume", "--out", stopped.string()});
  require_same_run(whole, stopped);
}

// One of every version of the format: graph_checkpoint_1.ckpt is the last checkpoint of 40 epochs on the tiny set, with
// `--folds 4 --dim 8 --num-heads 2 --depth 1 --num-samples 4 --encoding rwpe --encoding-columns 4 --batch-size 4
// --lr 1e-2`, and its prediction for a star.
TEST_CASE("checkpoints of graphs that earlier versions left are used and gone on from") {
  require_used_and_gone_on(GraphShop(), "graph_checkpoint_1", {"--graphs", "3"}, "-1", 0.85125, 41);
}

TEST_CASE("the batch of graphs whose loss was not finite lies in the run, passed over or not") {
  const GraphShop shop;
  for (const char* then : {"skip", "stop"}) {
    const Checkpoint shown = non_finite_batch(shop, then);
    CHECK(shown.tensors.at("batch.index").numel() == shown.tensors.at("batch.ptr").numel() - 1);
    CHECK(shown.tensors.contains("batch.rowptr"));
  }
}

TEST_CASE("a training that runs out of memory tries fewer nodes where they limit its batches, else fewer graphs") {
  const GraphShop shop;
  // Feed-forward networks of petabytes.
  const Words large = {"--mlp-ratio", "10000000000000"};
  const Words by_nodes = shop.train("nodes", large + Words{"--batch-nodes", "40"});
  const ProcessResult nodes = shop.run(by_nodes), graphs = shop.run(shop.train("graphs", large));
  shop.require_failure(nodes, 1, {"out of memory", "not even a step with --batch-nodes 1 has room"});
  shop.require_failure(graphs, 1, {"out of memory", "not even a step with --batch-size 1 has room"});
}

TEST_CASE("an encoding is computed by train, and read by everything that comes after") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const auto kept = [&] {
    std::map<fs::path, fs::file_time_type> files;
    for (const auto& entry : fs::directory_iterator(shop.cache() / "geosft")) {
      if (entry.path().string().ends_with(".encoding.h5")) files[entry.path()] = entry.last_write_time();
    }
    return files;
  };
  const auto once = kept();
  REQUIRE(once.size() == 1);
  shop.run_well({"eval", run});
  shop.run_well({"predict", run, "--graphs", "0"});
  shop.run_well({"train", "--resume", "--out", run, "--epochs", "4"});
  CHECK((kept() == once));
}

TEST_CASE("training on estimated encodings is possible, and said") {
  const GraphShop shop;
  const Words walks = {"--encoding-walks", "40"};
  const std::string said = shop.run_well(shop.train("run", walks)).err;
  CHECK_THAT(said, Catch::Contains("estimated from 40 walks a node: standard error up to 0.0"));
  CHECK_THAT(read_text(shop / "run" / "config.toml"), Catch::Contains("encoding_walks = 40"));
  const auto metrics = [&](const Words& more) {
    return nlohmann::json::parse(shop.run_well(Words{"eval", (shop / "run").string(), "--json"} + more).out)
        .at("metrics");
  };
  const nlohmann::json result = nlohmann::json::parse(read_text(shop / "run" / "result.json"));
  CHECK(metrics({}) == result.at("metrics"));
  CHECK(metrics({"--seed", "99"}) == result.at("metrics"));
}

TEST_CASE("train on graphs refuses wrong use in a line and leaves no run") {
  const GraphShop shop;
  const auto refused = [&](const Words& words, int exit, const Words& expected) {
    shop.refuses(words, exit, expected);
    CHECK_FALSE(fs::exists(shop / "run"));
  };
  refused(shop.train("run", {"--epoch", "3"}), 2, {"'--epoch'", "'--epochs'"});
  refused(shop.train("run", {"--num-heads", "3"}), 2, {"num_heads", "dim", "3", "16"});
  refused(shop.train("run", {"--fold", "4"}), 2, {"fold", "4"});
  refused(shop.train("run", {"--fold", "1", "--cross-validation"}), 2,
          {"--fold is for a run of one fold, not for cross_validation = true"});
  refused(shop.train("run", {"--folds", "25"}), 2, {"folds", "24", "25"});
  refused(shop.train("run", {"--encoding-walks", "1"}), 2, {"encoding_walks", "1"});
  refused(shop.train("run", {"--encoding", "lappe", "--encoding-walks", "9"}), 2, {"encoding_walks", "lappe"});
  refused(shop.train("run", {"--max-length", "3"}), 2, {"--max-length is for sequences", shop.data().string()});
  refused(shop.train("run", {"--head-num-samples", "3"}), 2,
          {"--head-num-samples is for head sample_max, not for head softmax_pool"});
  refused(shop.train("run", {"--norm", "batch"}), 2,
          {"--norm: expected one of pre, post", "--normalization takes 'batch'"});
  refused(shop.train("run", {"--pooling", "mean"}), 2, {"--pooling", "--head takes 'mean'"});
  refused(shop.train("run", {"--max_epoch", "3"}), 2, {"'--max_epoch'", "'--epochs'"});
  refused(shop.train("run", {"--base_lr", "3"}), 2, {"'--base_lr'", "'--lr'"});
  refused(shop.train("run", {"--cfg", "x.yaml"}), 2, {"'--cfg'", "'--config'"});
  write_text(shop / "gps.yaml", "optim:\n  max_epoch: 3\n");
  refused(shop.train("run", {"--config", (shop / "gps.yaml").string()}), 2,
          {"gps.yaml", "TOML", "YAML", "MIGRATING.md"});
  refused({"train", "--config", (shop / "absent.toml").string()}, 2, {"absent.toml"});
  write_text(shop / "elsewhere.toml", "data = \"/absent/set\"\n");
  refused({"train", "--config", (shop / "elsewhere.toml").string(), "--out", (shop / "run").string()}, 1,
          {"/absent/set", "nothing of this name, which", "elsewhere.toml gives: name another dataset by --data DIR"});
  refused(shop.train("run", {"--metric", "mae"}), 2, {"mae", "classification", "accuracy"});
  refused(shop.train("run", {"--validation-fraction", "0.001"}), 2, {"validation_fraction", "18"});
  refused(shop.train("run", {"--device", "cuda"}), 2, {"cuda", "cpu"});
  refused({"train", "--out", (shop / "run").string()}, 2, {"--data"});
  refused({"train", "--data", shop.data().string()}, 2, {"--out"});
  refused(shop.train("run", {"--data", (shop / "absent").string()}), 1, {"absent", "nothing of this name"});
  write_text(shop / "wrong.toml", "[model]\nwitdh = 3\n");
  refused(shop.train("run", {"--config", (shop / "wrong.toml").string()}), 2, {"wrong.toml:2", "'witdh'", "'dim'"});
  refused(shop.train("run", {"--data", (shop.data() / "TINY_A.txt").string()}), 2,
          {"a single graph without labels", "the dataset is its folder, " + shop.data().string()});
  write_text(shop.data() / "TINY_graph_labels.txt", "1\n");
  refused(shop.train("run"), 1, {"TINY_graph_labels.txt", "24"});
  const std::string indicator = (shop.data() / "TINY_graph_indicator.txt").string();
  std::filesystem::rename(indicator, indicator + ".away");
  refused(shop.train("run"), 1, {"TINY_graph_indicator.txt beside TINY_A.txt"});
  refused({"info", shop.data().string()}, 1, {"TINY_graph_indicator.txt beside TINY_A.txt"});
  std::filesystem::rename(indicator + ".away", indicator);
  std::string of_one_class;
  for (int graph = 0; graph < 24; ++graph) of_one_class += "1\n";
  write_text(shop.data() / "TINY_graph_labels.txt", of_one_class);
  refused(shop.train("run"), 1, {shop.data().string(), "expected at least two classes, found 1"});
}

TEST_CASE("a resumed graph run refuses what contradicts it") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const Words resume = {"train", "--resume", "--out", run};
  const auto refused = [&](const Words& more, int exit, const Words& expected) {
    shop.require_failure(shop.run(resume + more), exit, expected);
  };
  refused({"--dim", "32"}, 2, {"--resume", "--epochs"});
  refused({"--encoding-columns", "5"}, 2, {"--resume"});
  refused({"--config", run + "/config.toml"}, 2, {"--config"});
  write_tiny_graphs(shop / "other");
  std::string text = read_text(shop / "other" / "TINY_node_labels.txt");
  write_text(shop / "other" / "TINY_node_labels.txt", "7\n" + text.substr(2));
  refused({"--data", (shop / "other").string()}, 1, {"other", "labels"});
}

TEST_CASE("MUTAG is trained on from its files") {
  const fs::path data = real_data("tu/MUTAG");
  if (data.empty()) return;
  const GraphShop shop;
  const Words words = shop.train("run", {"--data", data.string(), "--folds", "10", "--epochs", "40", "--json"});
  const nlohmann::json result = nlohmann::json::parse(shop.run_well(words).out);
  CHECK(result.at("count") >= 18);
  // The larger class is 125 of 188: a constant predictor has 0.665, macro F1 0.4 and ROC-AUC 0.5.
  CHECK(result.at("metrics").at("accuracy") > 0.75);
  CHECK(result.at("metrics").at("macro_f1") > 0.6);
  CHECK(result.at("metrics").at("roc_auc") > 0.75);
  const std::string info = shop.run_well({"info", data.string()}).out;
  CHECK_THAT(info, Catch::Contains("188 graphs") && Catch::Contains("3371 nodes") && Catch::Contains("(125)"));
}

TEST_CASE("graph convolutions learn what tells graphs apart, and their runs load") {
  const GraphShop shop;
  for (const char* local : {"gcn", "gine", "gatedgcn"}) {
    const Words more = Words{"--json", "--epochs", "40", "--drop-token-rate", "0", "--attention", "none"} +
                       Words{"--local", local, "--normalization", "batch", "--encoding-channels", "4"} +
                       Words{"--head", "mean", "--head-layers", "2", "--depth", "2", "--mlp-ratio", "0"} +
                       Words{"--schedule", "cosine", "--warmup-epochs", "2", "--weight-decay", "0"};
    const nlohmann::json result = nlohmann::json::parse(shop.run_well(shop.train(local, more)).out);
    INFO(local);
    CHECK(result.at("metrics").at("accuracy") > 0.8);
    const nlohmann::json again = nlohmann::json::parse(shop.run_well({"eval", (shop / local).string(), "--json"}).out);
    CHECK(again.at("metrics") == result.at("metrics"));
    CHECK_THAT(read_text(shop / local / "config.toml"), Catch::Contains("local = \"" + std::string(local) + "\""));
  }
}

TEST_CASE("an ensemble whose training has not ended is told, or refused without one of its models") {
  const GraphShop shop;
  const std::string run = (shop / "run").string();
  shop.run_well(shop.train("run", {"--ensemble", "2", "--epochs", "1"}));
  const std::string warning = run +
                              ": its training has not ended, and what it has so far is used; geosft-graph train "
                              "--resume --out " +
                              run + " goes on with it\n";
  CHECK_THAT(shop.run_well({"eval", run}).err, !Catch::Contains("has not ended"));
  std::filesystem::remove(shop / "run/result.json");
  for (const Words& words : {Words{"eval", run}, Words{"predict", run}, Words{"report", run}}) {
    CHECK_THAT(shop.run_well(words).err, Catch::Contains(warning));
  }
  CHECK_THAT(shop.run_well({"eval", run + "/model_1"}).err,
             !Catch::Contains("has not ended") && Catch::Contains(run + "/model_1: one network of an ensemble: give "));
  std::filesystem::remove(shop / "run/model_1/best.ckpt");
  write_text(shop / "run/result.json", "{}");
  shop.refuses(
      {"eval", run}, 1,
      {run, "an ensemble of 2 models", "found no " + run + "/model_1/best.ckpt, although its training has ended"});
  std::filesystem::remove(shop / "run/result.json");
  shop.refuses({"eval", run}, 1,
               {run, "an ensemble of 2 models", "found 1: its training has not ended",
                "train --resume --out " + run + " goes on with it"});
}

TEST_CASE("what a split does not use is told or refused") {
  const GraphShop shop;
  shop.refuses(shop.train("named", {"--split-name", "random"}), 2,
               {"--split-name is for a set of the Open Graph Benchmark"});
  write_text(shop / "empty.csv", "");
  shop.refuses({"train", "--data", (shop / "empty.csv").string(), "--out", (shop / "none").string()}, 1,
               {"empty.csv", "an empty file"});
  const std::string note = "validation_fraction is not used: the split has a validation part of its own\n";
  CHECK_THAT(shop.run_well(shop.train("published", {"--split", "random", "--validation-fraction", "0.3"})).err,
             Catch::Contains(note));
  CHECK_THAT(shop.run_well(shop.train("held", {"--validation-fraction", "0.3"})).err, !Catch::Contains(note));
}

TEST_CASE("an ensemble predicts the mean of its models, each a run of its own") {
  const GraphShop shop;
  const std::string run = (shop / "run").string();
  const nlohmann::json trained =
      nlohmann::json::parse(shop.run_well(shop.train("run", {"--ensemble", "2", "--json"})).out);
  REQUIRE(nlohmann::json::parse(shop.run_well({"eval", run, "--json"}).out).at("metrics") == trained.at("metrics"));
  const auto log_odds = [&](const std::string& of) {
    const nlohmann::json line = nlohmann::json::parse(shop.run_well({"predict", of, "--graphs", "5", "--json"}).out);
    const double found = line.at("probability");
    return (line.at("class") == "1" ? 1 : -1) * std::log(found / (1 - found));
  };
  const double first = log_odds(run + "/best.ckpt"), second = log_odds(run + "/model_1");
  REQUIRE(first != second);
  REQUIRE(log_odds(run) == Approx((first + second) / 2).margin(1e-4));
  CHECK_THAT(shop.run_well({"eval", run}).out, Catch::Contains("evaluated: " + run + "/best.ckpt, epoch ") &&
                                                   Catch::EndsWith(", averaged with 1 more model\n"));
  CHECK_THAT(shop.run_well({"eval", run + "/best.ckpt"}).err,
             Catch::Contains("best.ckpt: one network, without the other network of its run: give " + run));
  CHECK_THAT(shop.run_well({"eval", run + "/model_1/best.ckpt"}).err, !Catch::Contains("one network"));
  std::filesystem::remove_all(shop / "run/model_1");
  shop.refuses({"eval", run}, 1, {run, "an ensemble of 2 models"});
}

TEST_CASE("the models of an ensemble start from those of the same number of another one, further ones from its first") {
  const GraphShop shop;
  const std::string first = (shop / "first").string(), tuned = (shop / "tuned").string();
  shop.run_well(shop.train("first", {"--ensemble", "2", "--epochs", "1"}));
  const ProcessResult result =
      shop.run_well({"train", "--data", shop.data().string(), "--init-from", first, "--ensemble", "3", "--epochs", "1",
                     "--folds", "4", "--freeze-encoder", "--out", tuned});
  CHECK_THAT(result.err, Catch::Contains("from " + first + "/model_1, encoder frozen"));
  const std::pair<const char*, const char*> pairs[] = {{"", ""}, {"model_1", "model_1"}, {"model_2", ""}};
  for (const auto& [model, from] : pairs) {
    const Checkpoint before = load_checkpoint(fs::path(first) / from / "best.ckpt"),
                     after = load_checkpoint(fs::path(tuned) / model / "best.ckpt");
    for (const auto& [name, tensor] : before.tensors) {
      if (name.find("_head.") == std::string::npos) require_equal(after.tensors.at(name), tensor, name);
    }
  }
  // A resumed training keeps them, also where the first ensemble has moved.
  const std::string config = read_text(shop / "tuned/model_1/config.toml");
  CHECK_THAT(config, Catch::Contains("init_from = \"" + first + "/model_1\"\n"));
  fs::rename(shop / "first", shop / "moved");
  shop.run_well({"train", "--resume", "--out", tuned});
  CHECK(read_text(shop / "tuned/model_1/config.toml") == config);
}

TEST_CASE("a training on graphs starts from another run, with its model") {
  const GraphShop shop;
  const std::string first = shop.trained();
  const ProcessResult tuned =
      shop.run_well({"train", "--data", shop.data().string(), "--init-from", first, "--epochs", "1", "--folds", "4",
                     "--freeze-encoder", "--out", (shop / "tuned").string()});
  REQUIRE_THAT(tuned.err, Catch::Contains("from " + first + ", encoder frozen"));
  REQUIRE_THAT(read_text(shop / "tuned" / "config.toml"), Catch::Contains("dim = 16"));
  const Checkpoint before = load_checkpoint(fs::path(first) / "best.ckpt"),
                   after = load_checkpoint(shop / "tuned" / "best.ckpt");
  for (const auto& [name, tensor] : before.tensors) {
    if (name.find("_head.") == std::string::npos) require_equal(after.tensors.at(name), tensor, name);
  }
}

}  // namespace geosft::test::test_graph_train_command
