// SPDX-License-Identifier: Apache-2.0
#include "graph/csr_graph.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "geometry/packed.h"

namespace geosft {
namespace {

void check_on_cpu(const at::Tensor& tensor, const char* name) {
  TORCH_CHECK(tensor.device().is_cpu(), name, " must be on the CPU, not ", tensor.device());
}

void check_edge_data(const at::Tensor& edge_attr, const at::Tensor& weight, int64_t edges) {
  if (edge_attr.defined()) {
    check_on_cpu(edge_attr, "edge_attr");
    TORCH_CHECK(edge_attr.dim() == 2 && edge_attr.size(0) == edges, "edge_attr must be [E, r] with a row for each of ",
                edges, " edges, got shape ", edge_attr.sizes());
  }
  if (weight.defined()) {
    check_on_cpu(weight, "weight");
    TORCH_CHECK(weight.dim() == 1 && weight.size(0) == edges, "weight must be [E] with an entry for each of ", edges,
                " edges, got shape ", weight.sizes());
    TORCH_CHECK(weight.scalar_type() == at::kFloat || weight.scalar_type() == at::kDouble,
                "weight must be float32 or float64, not ", weight.scalar_type());
    check_edge_weights(weight);
  }
}

template <typename T>
void check_weight_values(const at::Tensor& weight) {
  const at::Tensor contiguous = weight.contiguous();
  const T* values = contiguous.const_data_ptr<T>();
  for (int64_t e = 0; e < contiguous.numel(); ++e) {
    TORCH_CHECK(is_edge_weight(values[e]), "weight must be finite and not negative, but entry ", e, " is ", values[e]);
  }
}

// Checks a list of nodes and returns its values.
std::vector<int64_t> checked_nodes(const at::Tensor& list, const char* name, int64_t nodes) {
  TORCH_CHECK(list.defined() && list.scalar_type() == at::kLong, name, " must be int64, not ",
              list.defined() ? c10::toString(list.scalar_type()) : "undefined");
  check_on_cpu(list, name);
  TORCH_CHECK(list.dim() == 1, name, " must have one dimension, got shape ", list.sizes());
  const at::Tensor contiguous = list.contiguous();
  const int64_t* values = contiguous.const_data_ptr<int64_t>();
  std::vector<int64_t> rows(values, values + contiguous.size(0));
  check_indices(values, contiguous.size(0), nodes, name);
  return rows;
}

at::Tensor index_tensor(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

at::Tensor rows_of(const at::Tensor& data, const at::Tensor& edges) {
  return data.defined() ? data.index_select(0, edges) : data;
}

// Builds the graph from checked edges.
CsrGraph assemble(const std::vector<int64_t>& source, const std::vector<int64_t>& target, int64_t nodes,
                  const at::Tensor& edge_attr, const at::Tensor& weight) {
  std::vector<int64_t> rowptr(static_cast<size_t>(nodes) + 1, 0);
  for (const int64_t node : source) ++rowptr[node + 1];
  std::partial_sum(rowptr.begin(), rowptr.end(), rowptr.begin());
  std::vector<int64_t> next(rowptr.begin(), rowptr.end() - 1), edge(source.size()), col(source.size());
  for (size_t e = 0; e < source.size(); ++e) {
    const int64_t slot = next[source[e]]++;
    edge[slot] = static_cast<int64_t>(e);
    col[slot] = target[e];
  }
  const at::Tensor edges = index_tensor(edge);
  return {index_tensor(rowptr), index_tensor(col), rows_of(edge_attr, edges), rows_of(weight, edges)};
}

// Source and target of every stored edge.
struct EdgeList {
  std::vector<int64_t> source, target;
  explicit EdgeList(const CsrGraph& graph) : EdgeList(graph, edge_sources(graph)) {}
  // `sources` is edge_sources(graph), which has checked the graph.
  EdgeList(const CsrGraph& graph, const at::Tensor& sources) {
    const at::Tensor col = graph.col.contiguous(), begin = sources.contiguous();
    source.assign(begin.const_data_ptr<int64_t>(), begin.const_data_ptr<int64_t>() + graph.edges());
    target.assign(col.const_data_ptr<int64_t>(), col.const_data_ptr<int64_t>() + graph.edges());
  }
};

// Returns the edges without a reverse edge, ascending.
std::vector<int64_t> edges_without_partner(const EdgeList& edges) {
  std::vector<int64_t> order(edges.source.size());
  std::iota(order.begin(), order.end(), 0);
  const auto ends = [&](int64_t e) { return std::minmax(edges.source[e], edges.target[e]); };
  const auto backward = [&](int64_t e) { return edges.source[e] > edges.target[e]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return ends(a) < ends(b); });
  std::vector<int64_t> alone;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && ends(order[end]) == ends(order[begin])) ++end;
    if (edges.source[order[begin]] == edges.target[order[begin]]) continue;
    std::stable_partition(order.begin() + begin, order.begin() + end, [&](int64_t e) { return !backward(e); });
    const int64_t total = static_cast<int64_t>(end - begin);
    const int64_t backwards = std::count_if(order.begin() + begin, order.begin() + end, backward);
    const int64_t pairs = std::min(backwards, total - backwards);
    alone.insert(alone.end(), order.begin() + begin + pairs, order.begin() + begin + (total - backwards));
    alone.insert(alone.end(), order.begin() + begin + (total - backwards) + pairs, order.begin() + end);
  }
  std::sort(alone.begin(), alone.end());
  return alone;
}

}  // namespace

void check_edge_weights(const at::Tensor& weight) {
  weight.scalar_type() == at::kFloat ? check_weight_values<float>(weight) : check_weight_values<double>(weight);
}

void check_csr_shapes(const at::Tensor& rowptr, const at::Tensor& col) {
  TORCH_CHECK(rowptr.defined() && rowptr.scalar_type() == at::kLong, "rowptr must be int64, not ",
              rowptr.defined() ? c10::toString(rowptr.scalar_type()) : "undefined");
  TORCH_CHECK(col.defined() && col.scalar_type() == at::kLong, "col must be int64, not ",
              col.defined() ? c10::toString(col.scalar_type()) : "undefined");
  TORCH_CHECK(rowptr.dim() == 1, "rowptr must be [N + 1], got shape ", rowptr.sym_sizes());
  TORCH_CHECK(rowptr.sym_size(0) >= 1, "rowptr must be [N + 1] with at least one entry, got shape ",
              rowptr.sym_sizes());
  TORCH_CHECK(col.dim() == 1, "col must be [E], got shape ", col.sym_sizes());
}

void check_csr_values(const int64_t* rowptr, int64_t nodes, const int64_t* col, int64_t edges) {
  check_offsets(rowptr, nodes, edges, "rowptr", "the number of edges in col");
  check_indices(col, edges, nodes, "col");
}

void check_csr_values(const at::Tensor& rowptr, const at::Tensor& col) {
  check_csr_values(rowptr.const_data_ptr<int64_t>(), rowptr.size(0) - 1, col.const_data_ptr<int64_t>(), col.size(0));
}

void check_graph(const CsrGraph& graph) {
  check_csr_shapes(graph.rowptr, graph.col);
  check_on_cpu(graph.rowptr, "rowptr");
  check_on_cpu(graph.col, "col");
  check_csr_values(graph.rowptr.contiguous(), graph.col.contiguous());
  check_edge_data(graph.edge_attr, graph.weight, graph.edges());
}

CsrGraph graph_from_edges(const at::Tensor& source, const at::Tensor& target, int64_t nodes,
                          const at::Tensor& edge_attr, const at::Tensor& weight) {
  TORCH_CHECK(nodes >= 0, "nodes must not be negative, got ", nodes);
  const std::vector<int64_t> sources = checked_nodes(source, "source", nodes);
  const std::vector<int64_t> targets = checked_nodes(target, "target", nodes);
  TORCH_CHECK(sources.size() == targets.size(), "source and target must have one length, got ", sources.size(), " and ",
              targets.size());
  check_edge_data(edge_attr, weight, static_cast<int64_t>(sources.size()));
  return assemble(sources, targets, nodes, edge_attr, weight);
}

at::Tensor edge_sources(const CsrGraph& graph) {
  check_graph(graph);
  const at::Tensor counts = graph.rowptr.diff();
  return at::repeat_interleave(at::arange(graph.nodes(), at::kLong), counts, /*dim=*/0, graph.edges());
}

RedundantEdges redundant_edges(const CsrGraph& graph) {
  check_graph(graph);
  const at::Tensor rowptr = graph.rowptr.contiguous(), col = graph.col.contiguous();
  const int64_t* begin = rowptr.const_data_ptr<int64_t>();
  RedundantEdges found;
  std::vector<int64_t> row;
  for (int64_t i = 0; i < graph.nodes(); ++i) {
    row.assign(col.const_data_ptr<int64_t>() + begin[i], col.const_data_ptr<int64_t>() + begin[i + 1]);
    found.self_loops += std::erase(row, i);
    std::sort(row.begin(), row.end());
    found.repeated += row.end() - std::unique(row.begin(), row.end());
  }
  return found;
}

CsrGraph transposed(const CsrGraph& graph) {
  const EdgeList edges(graph);
  return assemble(edges.target, edges.source, graph.nodes(), graph.edge_attr, graph.weight);
}

CsrGraph symmetrized(const CsrGraph& graph) {
  EdgeList edges(graph);
  const std::vector<int64_t> alone = edges_without_partner(edges);
  for (const int64_t e : alone) {
    edges.source.push_back(edges.target[e]);
    edges.target.push_back(edges.source[e]);
  }
  const at::Tensor added = index_tensor(alone);
  const auto extended = [&](const at::Tensor& data) {
    return data.defined() ? at::cat({data, data.index_select(0, added)}) : data;
  };
  return assemble(edges.source, edges.target, graph.nodes(), extended(graph.edge_attr), extended(graph.weight));
}

CsrGraph induced_subgraph(const CsrGraph& graph, const at::Tensor& rows) {
  return induced_subgraph(graph, rows, edge_sources(graph));
}

CsrGraph induced_subgraph(const CsrGraph& graph, const at::Tensor& rows, const at::Tensor& sources) {
  TORCH_CHECK(sources.dim() == 1 && sources.size(0) == graph.edges(), "sources must be [E] with an entry for each of ",
              graph.edges(), " edges, got shape ", sources.sizes());
  const EdgeList edges(graph, sources);
  const std::vector<int64_t> kept_nodes = checked_nodes(rows, "rows", graph.nodes());
  std::vector<int64_t> number(static_cast<size_t>(graph.nodes()), -1), kept, source, target;
  for (size_t i = 0; i < kept_nodes.size(); ++i) {
    TORCH_CHECK(number[kept_nodes[i]] < 0, "rows must be distinct, but node ", kept_nodes[i], " stands in entries ",
                number[kept_nodes[i]], " and ", i);
    number[kept_nodes[i]] = static_cast<int64_t>(i);
  }
  for (size_t e = 0; e < edges.source.size(); ++e) {
    if (number[edges.source[e]] < 0 || number[edges.target[e]] < 0) continue;
    kept.push_back(static_cast<int64_t>(e));
    source.push_back(number[edges.source[e]]);
    target.push_back(number[edges.target[e]]);
  }
  const at::Tensor chosen = index_tensor(kept);
  return assemble(source, target, rows.size(0), rows_of(graph.edge_attr, chosen), rows_of(graph.weight, chosen));
}

CsrGraph permuted(const CsrGraph& graph, const at::Tensor& order) {
  TORCH_CHECK(order.defined() && order.dim() == 1 && order.size(0) == graph.nodes(),
              "order must be a permutation of the ", graph.nodes(), " nodes, got shape ",
              order.defined() ? order.sizes() : at::IntArrayRef{});
  return induced_subgraph(graph, order);
}

}  // namespace geosft
