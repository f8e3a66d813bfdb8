// SPDX-License-Identifier: Apache-2.0
#include "graph/weisfeiler_lehman.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/graph/featured.h"

namespace geosft::test::test_weisfeiler_lehman {
namespace {

constexpr int64_t iterations = 3;

std::string row_text(const at::Tensor& rows, int64_t row) {
  std::string text;
  if (!rows.defined()) return text;
  for (int64_t c = 0; c < rows.size(1); ++c) text += std::to_string(rows[row][c].item<int64_t>()) + ",";
  return text;
}

// Writes out what a node sees: its own text, and the sorted texts of its edges and their targets.
std::vector<std::vector<std::string>> slow_labels(const FeaturedGraphs& graphs) {
  const CsrGraph& graph = graphs.graphs.graph;
  std::vector<std::vector<std::string>> all(1);
  for (int64_t node = 0; node < graph.nodes(); ++node) all[0].push_back(row_text(graphs.node_categories, node));
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    std::vector<std::string> next;
    for (int64_t node = 0; node < graph.nodes(); ++node) {
      std::vector<std::string> around;
      for (int64_t e = graph.rowptr[node].item<int64_t>(); e < graph.rowptr[node + 1].item<int64_t>(); ++e) {
        around.push_back(row_text(graphs.edge_categories, e) + ":" +
                         all.back()[static_cast<size_t>(graph.col[e].item<int64_t>())]);
      }
      std::sort(around.begin(), around.end());
      std::string text = "(" + all.back()[static_cast<size_t>(node)];
      for (const std::string& one : around) text += "|" + one;
      next.push_back(text + ")");
    }
    all.push_back(next);
  }
  return all;
}

// Requires that nodes have one label where they have one text, and only there.
void require_same_partition(const at::Tensor& labels, const std::vector<std::string>& texts) {
  std::map<int64_t, std::string> text_of;
  std::map<std::string, int64_t> label_of;
  for (size_t node = 0; node < texts.size(); ++node) {
    const int64_t label = labels[static_cast<int64_t>(node)].item<int64_t>();
    REQUIRE(label >= 0);
    REQUIRE(text_of.emplace(label, texts[node]).first->second == texts[node]);
    REQUIRE(label_of.emplace(texts[node], label).first->second == label);
  }
}

}  // namespace

TEST_CASE("labels tell nodes apart as what is written out around them does") {
  for (const bool categories : {true, false}) {
    FeaturedGraphs graphs = featured_graphs({4, 1, 9, 6, 12, 0, 7}, 11);
    if (!categories) graphs.node_categories = graphs.edge_categories = at::Tensor();
    const at::Tensor labels = weisfeiler_lehman_labels(graphs, iterations);
    REQUIRE(labels.sizes() == at::IntArrayRef({iterations + 1, graphs.graphs.graph.nodes()}));
    const std::vector<std::vector<std::string>> texts = slow_labels(graphs);
    for (int64_t i = 0; i <= iterations; ++i) require_same_partition(labels[i], texts[static_cast<size_t>(i)]);
  }
}

TEST_CASE("labels go with the nodes when they are renumbered, and do not depend on the batch or the type") {
  const FeaturedGraphs graphs = featured_graphs({5, 8, 3}, 4);
  const at::Tensor labels = weisfeiler_lehman_labels(graphs, iterations);
  const RenumberedGraphs moved = renumbered(graphs, generator(2));
  require_equal(weisfeiler_lehman_labels(moved.graphs, iterations), labels.index_select(1, moved.order), "renumbered");
  require_equal(weisfeiler_lehman_labels(items_of(graphs, {1}), iterations), labels.narrow(1, 5, 8), "alone");
  FeaturedGraphs bytes = graphs;
  bytes.node_categories = graphs.node_categories.to(at::kByte);
  require_equal(weisfeiler_lehman_labels(bytes, iterations), labels, "bytes");
  require_equal(weisfeiler_lehman_labels(graphs, 1), labels.narrow(0, 0, 2), "fewer");
}

TEST_CASE("two triangles and a hexagon have the same labels, a path and a star have not") {
  const auto labels_of = [](const CsrGraph& graph) {
    FeaturedGraphs graphs;
    graphs.graphs = concatenated({graph});
    return std::get<0>(weisfeiler_lehman_labels(graphs, iterations)[iterations].sort());
  };
  const CsrGraph triangles = symmetrized(graph_of(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}));
  require_equal(labels_of(triangles), labels_of(cycle(6)), "hexagon");
  const CsrGraph star = symmetrized(graph_of(4, {{0, 1}, {0, 2}, {0, 3}}));
  REQUIRE_FALSE(labels_of(star).equal(labels_of(path(4))));
}

TEST_CASE("labels are the same on every machine") {
  FeaturedGraphs graphs;
  graphs.graphs = concatenated({path(3)});
  graphs.node_categories = at::tensor({1, 2, 1}, at::kLong).unsqueeze(1);
  const at::Tensor labels = weisfeiler_lehman_labels(graphs, 1);
  require_equal(labels,
                at::tensor({int64_t{5120873200011526997}, int64_t{908508653245834048}, int64_t{5120873200011526997},
                            int64_t{1079674031942374110}, int64_t{8610511994751136613}, int64_t{1079674031942374110}},
                           at::kLong)
                    .view({2, 3}),
                "labels");
}

TEST_CASE("wrong arguments of the labels are named") {
  FeaturedGraphs graphs = featured_graphs({4, 3}, 1);
  require_error([&] { weisfeiler_lehman_labels(graphs, -1); }, {"iterations", "-1"});
  FeaturedGraphs other = graphs;
  other.node_categories = graphs.node_categories.narrow(0, 0, 2);
  require_error([&] { weisfeiler_lehman_labels(other, 1); }, {"node_categories", "[7, columns]", "[2, 2]"});
  other = graphs;
  other.edge_categories = graphs.edge_categories.to(at::kFloat);
  require_error([&] { weisfeiler_lehman_labels(other, 1); }, {"edge_categories", "Float"});
  other = graphs;
  other.graphs.graph.col = graphs.graphs.graph.col + 7;
  require_error([&] { weisfeiler_lehman_labels(other, 1); }, {"col"});
}

}  // namespace geosft::test::test_weisfeiler_lehman
