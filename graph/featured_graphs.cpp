// SPDX-License-Identifier: Apache-2.0
#include "graph/featured_graphs.h"

#include <numeric>

#include "geometry/packed.h"

namespace geosft {
namespace {

at::Tensor selected(const at::Tensor& data, const at::Tensor& rows) {
  return data.defined() ? data.index_select(0, rows) : data;
}

// Selects the rows of all members except the graph itself.
FeaturedGraphs with_features(const FeaturedGraphs& from, GraphBatch graphs, const at::Tensor& nodes,
                             const at::Tensor& edges, at::Tensor graph_features) {
  return {std::move(graphs),
          selected(from.node_categories, nodes),
          selected(from.node_values, nodes),
          selected(from.edge_categories, edges),
          selected(from.edge_values, edges),
          selected(from.coordinates, nodes),
          selected(from.node_encoding, nodes),
          std::move(graph_features),
          {}};
}

// Returns the ranges begin[i] … begin[i] + count[i] - 1, concatenated.
at::Tensor ranges(const std::vector<int64_t>& begin, const std::vector<int64_t>& count) {
  const at::Tensor rows = at::empty({std::accumulate(count.begin(), count.end(), int64_t{0})}, at::kLong);
  int64_t* next = rows.data_ptr<int64_t>();
  for (size_t i = 0; i < begin.size(); ++i) {
    std::iota(next, next + count[i], begin[i]);
    next += count[i];
  }
  return rows;
}

}  // namespace

at::Tensor rows_of_items(const at::Tensor& ptr, const std::vector<int64_t>& items) {
  const int64_t *offsets = ptr.const_data_ptr<int64_t>(), count = ptr.size(0) - 1;
  std::vector<int64_t> begin, size;
  for (const int64_t item : items) {
    TORCH_CHECK(item >= 0 && item < count, "items must hold items 0 … ", count - 1, " of the batch, got ", item);
    begin.push_back(offsets[item]);
    size.push_back(offsets[item + 1] - offsets[item]);
  }
  return ranges(begin, size);
}

FeaturedGraphs items_of(const FeaturedGraphs& graphs, const std::vector<int64_t>& items) {
  const CsrGraph& whole = graphs.graphs.graph;
  const at::Tensor nodes = rows_of_items(graphs.graphs.ptr, items);
  const int64_t *ptr = graphs.graphs.ptr.const_data_ptr<int64_t>(), *rowptr = whole.rowptr.const_data_ptr<int64_t>();
  std::vector<int64_t> offsets = {0}, edge_begin, edge_count, shift;
  for (const int64_t item : items) {
    edge_begin.push_back(rowptr[ptr[item]]);
    edge_count.push_back(rowptr[ptr[item + 1]] - edge_begin.back());
    shift.push_back(offsets.back() - ptr[item]);
    offsets.push_back(offsets.back() + ptr[item + 1] - ptr[item]);
  }
  const at::Tensor edges = ranges(edge_begin, edge_count);
  const at::Tensor moved = at::repeat_interleave(at::tensor(shift, at::kLong), at::tensor(edge_count, at::kLong));
  const at::Tensor degree = whole.rowptr.diff().index_select(0, nodes);
  CsrGraph graph{at::cat({at::zeros({1}, at::kLong), degree.cumsum(0)}),
                 whole.col.index_select(0, edges) + moved,
                 {},
                 selected(whole.weight, edges)};
  return with_features(graphs, {std::move(graph), offsets_tensor(offsets)}, nodes, edges,
                       selected(graphs.graph_features, at::tensor(items, at::kLong)));
}

FeaturedGraphs induced_subgraph(const FeaturedGraphs& graphs, const at::Tensor& rows) {
  GraphBatch numbered = graphs.graphs;
  // The index of each edge is passed along as its feature.
  numbered.graph.edge_attr = at::arange(numbered.graph.edges(), at::kLong).unsqueeze(1);
  GraphBatch kept = induced_subgraph(numbered, rows);
  const at::Tensor edges = kept.graph.edge_attr.squeeze(1);
  kept.graph.edge_attr = at::Tensor();
  return with_features(graphs, std::move(kept), rows, edges, graphs.graph_features);
}

RenumberedGraphs renumbered(const FeaturedGraphs& graphs, at::Generator generator) {
  const std::vector<int64_t> offsets = packed_offsets(graphs.graphs.ptr, graphs.graphs.graph.nodes(), "ptr");
  std::vector<at::Tensor> order = {at::empty({0}, at::kLong)};
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    order.push_back(at::randperm(offsets[b + 1] - offsets[b], generator, at::kLong) + offsets[b]);
  }
  const at::Tensor rows = at::cat(order);
  return {induced_subgraph(graphs, rows), rows};
}

at::Tensor document_offsets(const at::Tensor& ptr, const at::Tensor& document) {
  // Number of rows of first documents before each row.
  const at::Tensor before = at::cat({at::zeros({1}, ptr.options()), document.eq(0).cumsum(0)});
  const at::Tensor begin = ptr.slice(0, 0, -1);
  const at::Tensor middle = begin + before.index_select(0, ptr.slice(0, 1)) - before.index_select(0, begin);
  if (document.is_cpu() && ptr.is_cpu()) {  // on a GPU this would synchronise
    TORCH_CHECK(document.ge(0).logical_and_(document.le(1)).all().item<bool>(), "document must be 0 or 1");
    const at::Tensor wrong = (before.index_select(0, middle) - before.index_select(0, begin)).ne(middle - begin);
    TORCH_CHECK(!wrong.any().item<bool>(),
                "document must be 0 in the first rows of an item and 1 in the others, but is not in item ",
                wrong.to(at::kByte).argmax().item<int64_t>());
  }
  return at::cat({at::stack({begin, middle}, 1).flatten(), ptr.slice(0, -1)});
}

}  // namespace geosft
