// SPDX-License-Identifier: Apache-2.0
// geosft-graph on a tiny dataset.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/tools/common/command_line.h"

namespace geosft::test {

// A TU set NAME of 24 graphs of 3 to 8 nodes: cycles (label 1), and stars of which some are a single node (label -1);
// nodes have one of three labels.
inline void write_tiny_graphs(const std::filesystem::path& folder, const std::string& name = "TINY") {
  std::string edges, indicator, labels, node_labels;
  int first = 1;
  for (int graph = 0; graph < 24; ++graph) {
    const bool cycle = graph % 2 == 0;
    const int nodes = !cycle && graph % 12 == 11 ? 1 : 3 + graph % 6;
    const auto link = [&](int a, int b) {
      edges += std::to_string(first + a) + ", " + std::to_string(first + b) + "\n" + std::to_string(first + b) + ", " +
               std::to_string(first + a) + "\n";
    };
    for (int node = 0; node < nodes; ++node) {
      if (cycle) link(node, (node + 1) % nodes);
      if (!cycle && node > 0) link(0, node);
      indicator += std::to_string(graph + 1) + "\n";
      node_labels += std::to_string((graph + node) % 3) + "\n";
    }
    labels += cycle ? "1\n" : "-1\n";
    first += nodes;
  }
  const std::string stem = (folder / name).string();
  write_text(stem + "_A.txt", edges);
  write_text(stem + "_graph_indicator.txt", indicator);
  write_text(stem + "_graph_labels.txt", labels);
  write_text(stem + "_node_labels.txt", node_labels);
}

// A folder with the tiny dataset, and whatever a test adds.
class GraphWorkshop {
 public:
  GraphWorkshop() { write_tiny_graphs(data()); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  std::filesystem::path data() const { return folder_ / "data"; }
  std::filesystem::path cache() const { return folder_ / "cache"; }
  ProcessOptions process() const { return {.cache = cache()}; }

  ProcessResult run(const Words& words) const { return run_process(GEOSFT_GRAPH, words, process()); }
  ProcessResult run_well(const Words& words) const {
    ProcessResult result = run(words);
    INFO(result.err);
    REQUIRE(result.signal == 0);
    REQUIRE(result.exit == 0);
    return result;
  }

  // `train` with a small model and few epochs; words that come later win.
  Words train(const std::string& out, const Words& more = {}) const {
    return Words{"train", "--data", data().string(), "--out", (folder_ / out).string()} +
           Words{"--seed", "3", "--folds", "4", "--epochs", "3", "--batch-size", "4", "--learning-rate", "3e-3"} +
           Words{"--width", "16", "--heads", "2", "--layers", "1", "--bins", "4", "--encoding", "rwpe"} +
           Words{"--encoding-columns", "4", "--drop-tokens", "0.1"} + more;
  }
  // The folder of a trained run, made once.
  std::string trained() const {
    if (!std::filesystem::exists(folder_ / "trained")) run_well(train("trained"));
    return (folder_ / "trained").string();
  }

 private:
  TemporaryFolder folder_;
};

inline void require_graph_failure(const ProcessResult& result, int exit, const Words& words) {
  require_tool_failure("geosft-graph", result, exit, words);
  CHECK(lines_of(result.err).size() == 1);
}

// An evaluation of one fold of the tiny set, six graphs, as JSON.
inline void check_graph_evaluation(const nlohmann::json& result, const std::string& split, int64_t count) {
  CHECK(result.at("task") == "classification");
  CHECK(result.at("split") == split);
  CHECK(result.at("count") == count);
  for (const char* share : {"accuracy", "macro_f1", "roc_auc"}) {
    CHECK(result.at("metrics").at(share) >= 0.0);
    CHECK(result.at("metrics").at(share) <= 1.0);
  }
  CHECK(result.at("metrics").at("loss") > 0.0);
  CHECK(result.at("max_logit_difference").is_number());
}

}  // namespace geosft::test
