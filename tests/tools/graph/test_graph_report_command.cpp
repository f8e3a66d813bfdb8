// SPDX-License-Identifier: Apache-2.0
// geosft-graph report, end to end.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/data/graphs/molecules.h"
#include "tests/environment.h"
#include "tests/tools/graph/graph_tool.h"
#include "tools/experiment/html_report.h"
#include "tools/experiment/report_texts.h"
#include "tools/graph/graph_experiment.h"

namespace geosft::test::test_graph_report_command {
namespace {

namespace fs = std::filesystem;

// Writes the page of a run, and returns its text.
std::string page_of(const GraphShop& shop, const std::string& run, const Words& more = {}) {
  const std::string file = (shop / "page.html").string();
  CHECK(shop.run_well(Words{"report", run, "--out", file} + more).out == file + "\n");
  return read_text(file);
}

nlohmann::json evaluation_of(const GraphShop& shop, const std::string& run, const Words& more = {}) {
  return nlohmann::json::parse(shop.run_well(Words{"eval", run, "--json"} + more).out);
}

// Requires that the page has the metrics of eval, in this order.
void require_metrics(const std::string& page, const nlohmann::json& evaluation, const Words& names) {
  NamedValues values;
  for (const std::string& name : names) values.emplace_back(name, evaluation.at("metrics").at(name).get<double>());
  CHECK_THAT(page, Catch::Contains("<td>" + with_commas(metrics_text(values)) + "</td>"));
}

// Returns what `predict --json` says of each item of a split.
std::vector<nlohmann::json> predictions_of(const GraphShop& shop, const std::string& run, const Words& more = {}) {
  std::vector<nlohmann::json> found;
  for (const std::string& line : lines_of(shop.run_well(Words{"predict", run, "--json"} + more).out)) {
    found.push_back(nlohmann::json::parse(line));
  }
  return found;
}

// Twenty alkanes with groups, named by their SMILES.
std::vector<std::string> twenty_smiles() {
  std::vector<std::string> all;
  std::string chain = "C";
  for (int length = 0; length < 5; ++length, chain += "C") {
    for (const char* group : {"", "O", "N", "C(=O)O"}) all.push_back(chain + "C" + group);
  }
  all[11] = std::string(90, 'C') + all[11];  // too long a name
  return all;
}

const Words molecule_training = {"--split", "random", "--epochs", "2"};

}  // namespace

TEST_CASE("the report of a graph run has the figures of eval, and its worst mistakes") {
  const GraphShop shop;
  // Hardly trained, so that there are mistakes.
  shop.run_well(shop.train("run", {"--epochs", "1", "--lr", "1e-6"}));
  const std::string run = (shop / "run").string();
  CHECK(shop.run_well({"report", run, "--seed", "77"}).out == run + "/report.html\n");
  const std::string page = read_text(shop / "run" / "report.html");
  CHECK_THAT(page, !Catch::Contains("seed = 77"));  // the configuration is that of the training
  CHECK_THAT(page, Catch::Contains("<title>classification: run</title>") &&
                       Catch::Contains("<td>" + shop.data().string() + "</td>") &&
                       Catch::Contains("<td>2 classes</td>") && Catch::Contains("18 train, 6 test") &&
                       Catch::Contains("6 graphs of the test split") &&
                       Catch::Contains("best.ckpt, epoch 1 of 1, the last one (no validation split)") &&
                       Catch::Contains("Wilson's score interval of a share of 6 graphs") &&
                       Catch::Contains("<th>precision</th>") && Catch::Contains("<h2>Confusion matrix</h2>") &&
                       Catch::Contains("<h2>Calibration</h2>") && Catch::Contains("dim = 16") &&
                       !Catch::Contains("<h2>Targets</h2>"));
  CHECK(count_of(page, "data:image/svg+xml") == (has_gnuplot() ? 1 : 0));
  require_metrics(page, evaluation_of(shop, run), {"accuracy", "macro_f1", "roc_auc", "loss"});

  // The training graphs that predict has wrong, the most confident first; even graphs are cycles, of class 1.
  const std::string training = page_of(shop, run, {"--split", "train", "--mistakes", "30"});
  require_metrics(training, evaluation_of(shop, run, {"--split", "train"}),
                  {"accuracy", "macro_f1", "roc_auc", "loss"});
  std::vector<std::pair<double, int64_t>> wrong;
  for (const nlohmann::json& one : predictions_of(shop, run, {"--split", "train"})) {
    const int64_t item = one.at("graph");
    if (one.at("class") != (item % 2 == 0 ? "1" : "-1")) wrong.emplace_back(-one.at("probability").get<double>(), item);
  }
  REQUIRE(wrong.size() >= 2);
  std::sort(wrong.begin(), wrong.end());
  CHECK(count_of(training, "<section ") == wrong.size());
  const std::string item = std::to_string(wrong[0].second);
  const bool cycle = wrong[0].second % 2 == 0;
  CHECK_THAT(training, Catch::Contains("<section id=\"mistake-1\"><b>item " + item + "</b><br>predicted " +
                                       (cycle ? "-1 (" : "1 (") + percent(-wrong[0].first) + "), is " +
                                       (cycle ? "1 (" : "-1 (") + percent(1 + wrong[0].first) + ")"));
  CHECK(count_of(page_of(shop, run, {"--split", "train", "--mistakes", "1"}), "<section ") == 1);
  CHECK_THAT(page_of(shop, run, {"--mistakes", "0"}), !Catch::Contains("<section "));
  CHECK_THAT(page_of(shop, run, {"--split", "all"}), Catch::Contains("all 24 graphs that have a label"));
}

TEST_CASE("a report is of one run, of a split that its data have, and not in the folder of a pretrained model") {
  const GraphShop shop;
  const std::string run = shop.trained();
  shop.refuses({"report", run, "--split", "validation"}, 2, {"validation", "no such split"});
  shop.refuses({"report", run, "--split", "tests"}, 2, {"--split", "tests"});
  shop.refuses({"report", (shop / "nothing").string()}, 2, {"no run folder", "nothing"});
  shop.refuses({"report", run + "/best.ckpt"}, 2, {"expected a RUN folder, found the file " + run + "/best.ckpt"});
  CHECK_FALSE(fs::exists(fs::path(run) / "report.html"));
  shop.run_well(shop.train("seeds", {"--num-seeds", "2", "--epochs", "1"}));
  const std::string seeds = (shop / "seeds").string();
  shop.refuses({"report", seeds}, 1, {"2 runs, one for each fold or seed", seeds + "/seed_"});
  const fs::path shipped = shop / "zoo" / "tiny";
  fs::create_directories(shop / "zoo");
  fs::copy(run, shipped, fs::copy_options::recursive);
  write_text(shipped / "card.json", R"({"name": "tiny", "tool": "geosft-graph", "summary": "", "command": "",
    "data": {"licence": "CC0"}, "scores": [{"metric": "accuracy", "unit": "%", "metrics": {"accuracy": 0.5}}],
    "sha256": {}})");
  const EnvironmentVariable zoo("GEOSFT_ZOO", (shop / "zoo").string());
  shop.refuses({"report", "tiny"}, 2, {"--out FILE is required", "tiny"});
  CHECK_THAT(page_of(shop, "tiny"), Catch::Contains("6 graphs of the test split"));
  CHECK_FALSE(fs::exists(shipped / "report.html"));
}

TEST_CASE("the report of a regression has the largest errors, with pictures of the molecules") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  const std::vector<std::string> smiles = twenty_smiles();
  std::string table = "smiles,a<b>,mass\n";
  // Item 7 is far from the others, and item 3 has no first target.
  for (size_t i = 0; i < smiles.size(); ++i) {
    const auto size = static_cast<double>(std::min<size_t>(smiles[i].size(), 12));
    table += smiles[i] + "," + (i == 3 ? "" : std::to_string(i == 7 ? 900.5 : 0.5 * size)) + "," +
             std::to_string(14 * size) + "\n";
  }
  write_text(shop / "table.csv", table);
  const std::string data = (shop / "table.csv").string(), run = (shop / "run").string();
  shop.run_well(shop.train("run", Words{"--data", data} + molecule_training));
  const std::string page = page_of(shop, run, {"--split", "all", "--mistakes", "3"});
  require_metrics(page, evaluation_of(shop, run, {"--split", "all"}), {"mae", "r2", "rmse", "loss"});
  const nlohmann::json values = predictions_of(shop, run).at(7).at("values");
  char predicted[32];
  std::snprintf(predicted, sizeof predicted, "%.6g", values.at("a<b>").get<double>());
  CHECK_THAT(page, Catch::Contains("<title>regression: run</title>") && Catch::Contains("<td>2 targets</td>") &&
                       Catch::Contains("<section id=\"mistake-1\"><b>item 7: " + smiles[7] +
                                       "</b><br>a&lt;b&gt;: predicted " + predicted + ", is 900.5; mass: predicted ") &&
                       Catch::Contains("<h2>Targets</h2>") && Catch::Contains("<td>a&lt;b&gt;</td><td>19</td>") &&
                       Catch::Contains("<td>mass</td><td>20</td>") && !Catch::Contains("a<b>") &&
                       !Catch::Contains("<h2>Confusion matrix</h2>"));
  CHECK(count_of(page, "<section ") == 3);
  CHECK(count_of(page, "<img alt=\"item ") == 3);
  const std::string everything = page_of(shop, run, {"--split", "all", "--mistakes", "20"});
  CHECK(count_of(everything, "<section ") == 20);
  CHECK_THAT(everything, Catch::Contains("<b>item 11: " + std::string(80, 'C') + " …</b>"));
}

TEST_CASE("the report of labels has the items with the largest log loss, and a table of the labels") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  const std::vector<std::string> smiles = twenty_smiles();
  std::string table = "smiles,oxygen,nitrogen\n";
  for (size_t i = 0; i < smiles.size(); ++i) {
    const auto has = [&](char letter) { return std::to_string(smiles[i].find(letter) != std::string::npos ? 1 : 0); };
    table += smiles[i] + "," + has('O') + "," + (i % 4 == 1 ? "" : has('N')) + "\n";
  }
  write_text(shop / "labels.csv", table);
  const std::string run = (shop / "run").string();
  shop.run_well(shop.train("run", Words{"--data", (shop / "labels.csv").string()} + molecule_training));
  const std::string page = page_of(shop, run, {"--split", "all", "--mistakes", "20"});
  require_metrics(page, evaluation_of(shop, run, {"--split", "all"}),
                  {"average_precision", "roc_auc", "prc_auc", "loss"});
  const std::vector<nlohmann::json> predicted = predictions_of(shop, run);
  size_t worst = 0;
  double largest = 0.0;
  for (size_t i = 0; i < smiles.size(); ++i) {
    double sum = 0.0;
    int known = 0;
    for (const auto& [name, letter] : {std::pair("oxygen", 'O'), std::pair("nitrogen", 'N')}) {
      if (letter == 'N' && i % 4 == 1) continue;
      const double one = predicted[i].at("probabilities").at(name);
      sum -= std::log(smiles[i].find(letter) != std::string::npos ? one : 1 - one);
      ++known;
    }
    if (sum / known > largest) {
      largest = sum / known;
      worst = i;
    }
  }
  CHECK_THAT(page, Catch::Contains("<section id=\"mistake-1\"><b>item " + std::to_string(worst) + ": " + smiles[worst] +
                                   "</b>") &&
                       Catch::Contains("<td>2 labels</td>") && Catch::Contains("<h2>Labels</h2>") &&
                       Catch::Contains("<td>oxygen</td><td>20</td><td>10</td>") &&
                       Catch::Contains("<td>nitrogen</td><td>15</td><td>5</td>"));
  CHECK(count_of(page, "<section ") == 20);
}

TEST_CASE("the report of an ensemble says so, and that of nodes lists no mistakes") {
  const GraphShop shop;
  shop.run_well(shop.train("several", {"--ensemble", "2", "--epochs", "1"}));
  const std::string several = (shop / "several").string(), page = page_of(shop, several);
  CHECK_THAT(page, Catch::Contains("averaged with 1 more model") && Catch::Contains(" in each of 2 models"));
  require_metrics(page, evaluation_of(shop, several), {"accuracy", "macro_f1", "roc_auc", "loss"});

  const fs::path nodes = shop / "nodes";
  std::string ends, classes;
  for (int node = 0; node < 48; ++node) {
    ends += std::to_string(node) + "," + std::to_string((node + 1) % 48) + "\n";
    classes += std::to_string(node / 3 % 2) + "\n";
  }
  write_text(nodes / "raw/num-node-list.csv", "48\n");
  write_text(nodes / "raw/num-edge-list.csv", "48\n");
  write_text(nodes / "raw/edge.csv", ends);
  write_text(nodes / "raw/node-label.csv", classes);
  std::map<std::string, std::string> splits;
  for (int node = 0; node < 48; ++node) {
    splits[node % 4 == 0 ? "test" : node % 4 == 1 ? "valid" : "train"] += std::to_string(node) + "\n";
  }
  for (const auto& [split, rows] : splits) write_text(nodes / "split/time" / (split + ".csv"), rows);
  shop.run_well(shop.train("run", {"--data", nodes.string(), "--epochs", "1"}));
  const std::string run = (shop / "run").string(), of_nodes = page_of(shop, run);
  require_metrics(of_nodes, evaluation_of(shop, run), {"accuracy", "macro_f1", "roc_auc", "loss"});
  CHECK_THAT(of_nodes, Catch::Contains("<title>node classification: run</title>") &&
                           Catch::Contains("<th>nodes</th>") && Catch::Contains("<h2>Confusion matrix</h2>") &&
                           !Catch::Contains("Worst mistakes") && !Catch::Contains("<td>mistakes</td>") &&
                           !Catch::Contains("Wilson"));
}

}  // namespace geosft::test::test_graph_report_command
