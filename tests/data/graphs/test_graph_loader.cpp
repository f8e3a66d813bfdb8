// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_loader.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/data/graphs/small_graphs.h"

namespace geosft::test::test_graph_loader {
namespace {

std::vector<LabelledItems> drain(GraphLoader& loader) {
  std::vector<LabelledItems> all;
  while (auto batch = loader.next()) all.push_back(std::move(*batch));
  return all;
}

std::vector<int64_t> items_in(const std::vector<LabelledItems>& batches) {
  std::vector<int64_t> all;
  for (const LabelledItems& batch : batches) all.insert(all.end(), batch.items.begin(), batch.items.end());
  return all;
}

}  // namespace

TEST_CASE("a batch holds its graphs with their targets") {
  const PackedItems graphs = small_graphs();
  const LabelledItems of_graphs = labelled_items(graphs, {4, 1});
  require_equal(of_graphs.target, at::tensor({1, 1}, at::kLong), "target");
  require_equal(of_graphs.graphs.ptr, at::tensor({0, 4, 5}, at::kLong), "ptr");
  const at::Tensor rows = rows_of_items(graphs.graphs.ptr, {4, 1});
  for (const GraphTask task : {GraphTask::node_classification, GraphTask::node_multi_label}) {
    const PackedItems nodes = small_graphs(task);
    require_equal(labelled_items(nodes, {4, 1}).target, nodes.target.index_select(0, rows), "targets of nodes");
  }
  PackedItems parts = small_graphs(GraphTask::node_classification);
  parts.node_split = at::arange(24) % 3;
  require_equal(labelled_items(parts, {4, 1}).node_split, parts.node_split.index_select(0, rows), "node_split");
}

TEST_CASE("making batches counts as waiting, epoch by epoch") {
  const PackedItems graphs = small_graphs();
  GraphLoader loader(graphs, {0, 2, 3, 5, 6}, {.batch_size = 2});
  CHECK(loader.seconds_waited() == 0.0);
  do {  // until the clock has moved on
    loader.start_epoch(0);
    CHECK(drain(loader).size() == 3);
  } while (loader.seconds_waited() == 0.0);
  loader.start_epoch(1);
  CHECK(loader.seconds_waited() == 0.0);
}

TEST_CASE("an epoch holds every item once, shuffled anew each time, and begins where it is told to") {
  const PackedItems graphs = small_graphs();
  GraphLoader loader(graphs, {0, 2, 3, 5, 6}, {.batch_size = 2, .shuffle = true, .seed = 3});
  CHECK(loader.batches_per_epoch() == 3);
  CHECK_FALSE(loader.next());
  std::vector<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    loader.start_epoch(epoch);
    orders.push_back(items_in(drain(loader)));
    std::vector<int64_t> sorted = orders.back();
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<int64_t>{0, 2, 3, 5, 6});
  }
  CHECK(std::count(orders.begin(), orders.end(), orders[0]) < 4);
  loader.start_epoch(2, 1);
  CHECK(items_in(drain(loader)) == std::vector<int64_t>(orders[2].begin() + 2, orders[2].end()));
  GraphLoader plain(graphs, {6, 1}, {});
  plain.start_epoch(7);
  CHECK(items_in(drain(plain)) == std::vector<int64_t>{6, 1});
  require_error([&] { loader.start_epoch(0, 4); }, {"first_batch", "[0, 3]", "4"});
  require_error([&] { GraphLoader(graphs, {0}, {.batch_size = 0}); }, {"batch_size"});
}

TEST_CASE("a batch takes graphs while its nodes are at most so many, and at least one graph") {
  const PackedItems graphs = small_graphs();
  const at::Tensor sizes = at::diff(graphs.graphs.ptr);
  const std::vector<int64_t> items = {0, 1, 2, 3, 4, 5, 6};
  for (const int64_t limit : {1, 5, 8, 1000}) {
    GraphLoader loader(graphs, items, {.batch_nodes = limit, .shuffle = true, .seed = 3});
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      loader.start_epoch(epoch);
      const std::vector<LabelledItems> batches = drain(loader);
      CHECK(static_cast<int64_t>(batches.size()) == loader.batches_per_epoch());
      std::vector<int64_t> sorted = items_in(batches);
      const std::vector<int64_t> order = sorted;
      std::sort(sorted.begin(), sorted.end());
      CHECK(sorted == items);
      size_t next = 0;
      for (const LabelledItems& batch : batches) {
        const int64_t nodes = batch.graphs.graph.nodes();
        CHECK((nodes <= limit || batch.items.size() == 1));
        next += batch.items.size();
        if (next < order.size()) CHECK(nodes + sizes[order[next]].item<int64_t>() > limit);  // it was full
      }
      loader.start_epoch(epoch, 1);
      const std::vector<int64_t> rest = items_in(drain(loader));
      CHECK(rest == std::vector<int64_t>(order.end() - static_cast<int64_t>(rest.size()), order.end()));
    }
  }
  require_error([&] { GraphLoader(graphs, {0}, {.batch_nodes = -1}); }, {"batch_nodes", "-1"});
}

TEST_CASE("dropped nodes are gone with their edges and targets, the same ones every time") {
  const PackedItems nodes = small_graphs(GENERATE(GraphTask::node_classification, GraphTask::node_multi_label));
  GraphLoader loader(nodes, {0, 1, 2}, {.batch_size = 3, .drop_nodes = 0.4});
  loader.start_epoch(0);
  const LabelledItems first = loader.next().value();
  require_equal(first.graphs.ptr.diff(), at::tensor({2, 1, 4}, at::kLong), "ceil(0.6 n) nodes stay");
  check_batch(first.graphs);
  CHECK(first.target.size(0) == 7);
  CHECK(first.node_values.size(0) == 7);
  CHECK(first.edge_values.size(0) == first.graphs.graph.edges());
  loader.start_epoch(0);
  require_equal(loader.next()->node_values, first.node_values, "the same epoch");
  loader.start_epoch(1);
  CHECK_FALSE(at::equal(loader.next()->node_values, first.node_values));
  const PackedItems graphs = small_graphs();
  const LabelledItems part =
      drop_random_nodes(labelled_items(graphs, {2, 5}), GraphTask::classification, 0.5, generator(1));
  require_equal(part.target, at::tensor({2, 2}, at::kLong), "targets of graphs stay");
}

TEST_CASE("shares of a loader of graphs make up its batches, with the same nodes dropped") {
  const PackedItems graphs = small_graphs();
  const std::vector<int64_t> items = {0, 2, 3, 4, 5, 6};
  GraphLoaderOptions options{.batch_size = 5, .shuffle = true, .seed = 3, .drop_nodes = 0.4};
  const auto batches_of = [&](BatchShard share) {
    options.share = share;
    GraphLoader loader(graphs, items, options);
    loader.start_epoch(1);
    return drain(loader);
  };
  const std::vector<LabelledItems> whole = batches_of({});
  REQUIRE(whole.size() == 2);
  for (size_t b = 0; b < 2; ++b) {
    std::vector<at::Tensor> categories, sizes;
    for (int64_t part = 0; part < 3; ++part) {
      const LabelledItems share = batches_of({part, 3})[b];
      CHECK(share.place.all == static_cast<int64_t>(whole[b].items.size()));
      if (share.place.spare) continue;
      CHECK(share.items[0] == whole[b].items[static_cast<size_t>(share.place.first)]);
      categories.push_back(share.node_categories);
      sizes.push_back(share.graphs.ptr.diff());
    }
    require_equal(at::cat(sizes), whole[b].graphs.ptr.diff(), "nodes left");
    require_equal(at::cat(categories), whole[b].node_categories, "what they are");
  }
}

}  // namespace geosft::test::test_graph_loader
