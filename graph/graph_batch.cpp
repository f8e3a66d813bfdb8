// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_batch.h"

#include "geometry/packed.h"

namespace geosft {
namespace {

// Concatenates the edge features or weights of all graphs.
at::Tensor joined(const std::vector<CsrGraph>& graphs, at::Tensor CsrGraph::*member, const char* name) {
  std::vector<at::Tensor> parts;
  for (size_t b = 0; b < graphs.size(); ++b) {
    const at::Tensor &part = graphs[b].*member, &first = graphs[0].*member;
    TORCH_CHECK(part.defined() == first.defined(), name, " must be given for all graphs or for none, but graphs 0 and ",
                b, " differ");
    if (!part.defined()) continue;
    TORCH_CHECK(part.scalar_type() == first.scalar_type() && part.sizes().slice(1) == first.sizes().slice(1), name,
                " must have one dtype and width, but graph 0 has ", first.scalar_type(), " ", first.sizes(),
                " and graph ", b, " ", part.scalar_type(), " ", part.sizes());
    parts.push_back(part);
  }
  return parts.empty() ? at::Tensor() : at::cat(parts);
}

// Checks the batch and returns the source node of each stored edge.
at::Tensor checked_sources(const GraphBatch& batch) {
  const at::Tensor sources = edge_sources(batch.graph);
  const at::Tensor item = item_of_row(packed_offsets(batch.ptr, batch.graph.nodes(), "ptr"));
  const at::Tensor crossing = item.index_select(0, sources) != item.index_select(0, batch.graph.col);
  if (!crossing.any().item<bool>()) return sources;
  const int64_t edge = crossing.nonzero()[0].item<int64_t>();
  TORCH_CHECK(false, "col must stay within the items of ptr, but edge ", edge, " leads from node ",
              sources[edge].item<int64_t>(), " to node ", batch.graph.col[edge].item<int64_t>());
}

}  // namespace

void check_batch(const GraphBatch& batch) {
  checked_sources(batch);
}

GraphBatch concatenated(const std::vector<CsrGraph>& graphs) {
  std::vector<int64_t> offsets = {0};
  std::vector<at::Tensor> rowptr = {at::zeros({1}, at::kLong)}, col = {at::empty({0}, at::kLong)};
  int64_t edges = 0;
  for (const CsrGraph& graph : graphs) {
    check_graph(graph);
    rowptr.push_back(graph.rowptr.slice(0, 1) + edges);
    col.push_back(graph.col + offsets.back());
    offsets.push_back(offsets.back() + graph.nodes());
    edges += graph.edges();
  }
  return {{at::cat(rowptr), at::cat(col), joined(graphs, &CsrGraph::edge_attr, "edge_attr"),
           joined(graphs, &CsrGraph::weight, "weight")},
          offsets_tensor(offsets)};
}

CsrGraph graph_of_item(const GraphBatch& batch, int64_t b) {
  check_batch(batch);
  TORCH_CHECK(b >= 0 && b < batch.items(), "b must be an item of the batch, 0 … ", batch.items() - 1, ", got ", b);
  const int64_t begin = batch.ptr[b].item<int64_t>(), end = batch.ptr[b + 1].item<int64_t>();
  const int64_t first = batch.graph.rowptr[begin].item<int64_t>(), last = batch.graph.rowptr[end].item<int64_t>();
  const auto part = [&](const at::Tensor& data) { return data.defined() ? data.slice(0, first, last) : data; };
  return {batch.graph.rowptr.slice(0, begin, end + 1) - first, part(batch.graph.col) - begin,
          part(batch.graph.edge_attr), part(batch.graph.weight)};
}

GraphBatch induced_subgraph(const GraphBatch& batch, const at::Tensor& rows) {
  CsrGraph graph = induced_subgraph(batch.graph, rows, checked_sources(batch));
  const std::vector<int64_t> offsets = packed_offsets(batch.ptr, batch.graph.nodes(), "ptr");
  const at::Tensor item = item_of_row(offsets).index_select(0, rows).contiguous();
  const int64_t* of_row = item.const_data_ptr<int64_t>();
  std::vector<int64_t> kept(offsets.size(), 0);
  for (int64_t i = 0; i < item.size(0); ++i) {
    TORCH_CHECK(i == 0 || of_row[i] >= of_row[i - 1], "rows must hold the items in turn, but entry ", i, " is of item ",
                of_row[i], " after one of item ", of_row[i - 1]);
    ++kept[of_row[i] + 1];
  }
  for (size_t b = 1; b < kept.size(); ++b) kept[b] += kept[b - 1];
  return {graph, offsets_tensor(kept)};
}

}  // namespace geosft
