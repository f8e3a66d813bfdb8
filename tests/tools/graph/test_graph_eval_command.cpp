// SPDX-License-Identifier: Apache-2.0
// geosft-graph eval, end to end.
#include <catch2/catch.hpp>

#include "data/checkpoint.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_eval_command {
namespace fs = std::filesystem;

TEST_CASE("eval measures every split of the data of a graph run") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const auto evaluate = [&](const Words& more) {
    const ProcessResult result = shop.run_well(Words{"eval", run, "--json"} + more);
    REQUIRE(lines_of(result.out).size() == 1);
    return nlohmann::json::parse(result.out);
  };
  const nlohmann::json test = evaluate({});
  check_graph_evaluation(test, "test", 6);
  check_graph_evaluation(evaluate({"--split", "train"}), "train", 18);
  CHECK(test.at("metrics") == nlohmann::json::parse(read_text(fs::path(run) / "result.json")).at("metrics"));
  CHECK(test.at("renumberings") == 0);
  shop.refuses({"eval", run, "--split", "validation"}, 2, {"validation", "no such split"});
  const std::string text = shop.run_well({"eval", run}).out;
  CHECK_THAT(text, Catch::Contains("6 graphs of the test split") && Catch::Contains("accuracy") &&
                       Catch::Contains("macro_f1"));
}

TEST_CASE("eval says that a split is too small for a figure, as train does") {
  const GraphShop shop;
  const std::string warning = ": the test split has 2 graphs, too few for a figure";
  CHECK_THAT(shop.run_well(shop.train("few", {"--folds", "12", "--epochs", "1"})).err, Catch::Contains(warning));
  const std::string run = (shop / "few").string();
  CHECK_THAT(shop.run_well({"eval", run}).err, Catch::Contains(warning));
  CHECK_THAT(shop.run_well({"eval", run, "--split", "train"}).err, !Catch::Contains("too few"));
}

TEST_CASE("eval measures all labelled graphs of another set than the one of the training") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const auto all = [&](const Words& more) {
    return nlohmann::json::parse(shop.run_well(Words{"eval", run, "--json", "--split", "all"} + more).out);
  };
  const nlohmann::json own = all({"--evaluation", "greedy"});  // as in other batches
  check_graph_evaluation(own, "all", 24);
  const auto right = [&](const char* split, int64_t count) {
    const Words words = {"eval", run, "--json", "--split", split, "--evaluation", "greedy"};
    const double accuracy = nlohmann::json::parse(shop.run_well(words).out).at("metrics").at("accuracy");
    return accuracy * static_cast<double>(count);
  };
  CHECK(own.at("metrics").at("accuracy").get<double>() * 24 == Approx(right("train", 18) + right("test", 6)));
  write_tiny_graphs(shop / "other", "OTHER", 4);
  const std::string other = (shop / "other").string();
  check_graph_evaluation(all({"--data", other, "--renumber", "1"}), "all", 24);
  const std::string trained_on = shop.data().string() + ": these are the data of the training";
  const ProcessResult of_other = shop.run_well({"eval", run, "--data", other, "--split", "all"});
  CHECK_THAT(of_other.out, Catch::StartsWith("all 24 graphs that have a label\naccuracy "));
  CHECK_THAT(of_other.err, !Catch::Contains("of the training"));
  CHECK_THAT(shop.run_well({"eval", run, "--split", "all"}).err, Catch::Contains(trained_on));
  CHECK_THAT(shop.run_well({"eval", run}).err, !Catch::Contains(trained_on));
}

TEST_CASE("eval says what renumbering the nodes changes: nothing, evaluated greedily, where nodes differ") {
  const GraphShop shop;
  const auto evaluated = [&](const std::string& run, const Words& more) {
    return nlohmann::json::parse(shop.run_well(Words{"eval", run, "--json", "--renumber", "3"} + more).out);
  };
  const nlohmann::json seeded = evaluated(shop.trained(), {});
  CHECK(seeded.at("renumberings") == 3);
  CHECK(seeded.at("max_logit_difference") > 1e-3);
  CHECK(seeded.at("prediction_agreement") <= 1.0);
  CHECK_THAT(shop.run_well({"eval", shop.trained(), "--renumber", "1"}).out, Catch::Contains("renumbered"));
  // A number of its own for every node of a graph: no two scores are equal.
  const size_t nodes = lines_of(read_text(shop.data() / "TINY_node_labels.txt")).size();
  std::string values;
  for (size_t node = 0; node < nodes; ++node) values += std::to_string(37 * node % 101) + "\n";
  write_text(shop.data() / "TINY_node_attributes.txt", values);
  shop.run_well(shop.train("valued"));
  for (const char* part : {"train", "test"}) {
    const nlohmann::json greedy = evaluated((shop / "valued").string(), {"--split", part, "--evaluation", "greedy"});
    CHECK(greedy.at("max_logit_difference") < 1e-4);
    CHECK(greedy.at("prediction_agreement") == 1.0);
  }
}

TEST_CASE("attention over all nodes is chosen by name and reports its degree and error") {
  const GraphShop shop;
  const auto layer = [&](const std::string& out, const Words& more) {
    shop.run_well(shop.train(out, Words{"--attention", "polynomial"} + more));
    const auto json = nlohmann::json::parse(shop.run_well({"eval", (shop / out).string(), "--json"}).out);
    REQUIRE(json.at("attention").size() == 1);
    return json.at("attention")[0];
  };
  CHECK(layer("fixed", {"--degree", "2"}).at("degree") == 2);
  CHECK(layer("chosen", {"--tolerance", "0.05", "--num-heads", "8"}).at("error_bound") <= 0.05);
  CHECK(layer("exact", {"--tolerance", "1e-9", "--max-monomials", "9", "--or-exact"}).at("exact") == true);
  // Only the scores of the first step tell, after the configuration was shown.
  shop.require_failure(
      shop.run(shop.train("refused", {"--attention", "polynomial", "--tolerance", "0.01", "--max-monomials", "9"})), 1,
      {"tolerance 0.01", "more than max_monomials 9", "or use exact attention"});
  shop.run_well(shop.train("softmax", {"--attention", "softmax"}));
  shop.refuses(shop.train("other", {"--attention", "cosine"}), 2, {"attention", "cosine"});
}

TEST_CASE("eval says what a table in the place of RUN is not, and how a run that has only begun goes on") {
  const GraphShop shop;
  const std::string run = shop.trained();
  write_text(shop / "mine.csv", "smiles,y\nCC,1\n");
  const std::string table = (shop / "mine.csv").string();
  shop.refuses({"eval", table}, 2, {"'" + table + "' is no RUN: the first argument of eval", "eval RUN --data DATA"});
  fs::remove(shop / "trained/best.ckpt");
  shop.refuses({"eval", run}, 1, {run, "best.ckpt", "none, although its training has ended"});
  fs::remove(shop / "trained/result.json");
  shop.refuses({"eval", run}, 1, {run, "best.ckpt", "last.ckpt alone", "geosft-graph train --resume --out " + run});
  fs::remove(shop / "trained/last.ckpt");
  shop.refuses({"eval", run}, 1, {"best.ckpt"});
}

TEST_CASE("a graph model is not evaluated on other features, nor one of another tool") {
  const GraphShop shop;
  const std::string run = shop.trained();
  fs::remove(shop.data() / "TINY_node_labels.txt");
  shop.refuses({"eval", run}, 1, {shop.data().string(), "sizes of the categories of nodes"});
  Checkpoint other = load_checkpoint(fs::path(run) / "best.ckpt");
  other.texts.at("kind") = "geosft-classify";
  save_checkpoint(shop / "other.ckpt", other);
  shop.refuses({"eval", (shop / "other.ckpt").string()}, 1, {"other.ckpt", "geosft-graph"});
  other.texts.at("kind") = "geosft-graph";
  other.texts.at("schema") = "{}";
  save_checkpoint(shop / "other.ckpt", other);
  shop.refuses({"eval", (shop / "other.ckpt").string()}, 1, {"other.ckpt", "schema"});
  shop.refuses({"eval", shop.data().string()}, 2, {shop.data().string(), "no run"});
}

}  // namespace geosft::test::test_graph_eval_command
