// SPDX-License-Identifier: Apache-2.0
// geosft-graph on a tiny dataset.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/places.h"
#include "tests/tools/experiment/workshop.h"

namespace geosft::test {

// A TU set NAME of 24 graphs of `minimum` nodes or up to five more: cycles (label 1), and stars of which some are a
// single node (label -1); nodes have one of three labels.
inline void write_tiny_graphs(const std::filesystem::path& folder, const std::string& name = "TINY", int minimum = 3) {
  std::string edges, indicator, labels, node_labels;
  int first = 1;
  for (int graph = 0; graph < 24; ++graph) {
    const bool cycle = graph % 2 == 0;
    const int nodes = !cycle && graph % 12 == 11 ? 1 : minimum + graph % 6;
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

class GraphShop : public Workshop {
 public:
  GraphShop()
      : Workshop(
            "geosft-graph", program_path("geosft-graph"), [](const auto& folder) { write_tiny_graphs(folder); },
            Words{"--preset", "paper", "--seed", "3", "--folds", "4", "--epochs", "3", "--batch-size", "4"} +
                Words{"--lr", "3e-3", "--dim", "16", "--num-heads", "2", "--depth", "1"} +
                Words{"--num-samples", "4", "--encoding", "rwpe", "--encoding-columns", "4", "--drop-token-rate",
                      "0.1"}) {}
};

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
