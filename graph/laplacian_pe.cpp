// SPDX-License-Identifier: Apache-2.0
#include "graph/laplacian_pe.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry/device_offsets.h"
#include "geometry/packed.h"
#include "graph/laplacian_solver.h"
#include "graph/links.h"
#include "graph/node_order.h"

namespace geosft {
namespace {

// A connected component and its eigenpairs.
struct Component {
  int64_t item;
  std::vector<int32_t> nodes;  // ascending
  Eigenpairs pairs;
};

Links<double> checked_links(const at::Tensor& rowptr, const at::Tensor& col, const at::Tensor& weight) {
  Links<double> links =
      read_links<double>(rowptr, col, weight.defined() ? std::optional(weight.to(at::kDouble)) : std::nullopt);
  TORCH_CHECK(is_symmetric(links),
              "col must hold both directions of every edge, with one weight: the graph must be undirected");
  // An edge of weight 0 must not connect components.
  const int64_t nodes = links.structure.nodes();
  Links<double> kept;
  kept.structure.begin.push_back(0);
  for (int64_t i = 0; i < nodes; ++i) {
    for (int64_t e = links.structure.begin[i]; e < links.structure.begin[i + 1]; ++e) {
      const double w = links.weight.empty() ? 1.0 : links.weight[e];
      if (w == 0) continue;
      kept.structure.to.push_back(links.structure.to[e]);
      kept.weight.push_back(w);
    }
    kept.structure.begin.push_back(static_cast<int64_t>(kept.structure.to.size()));
  }
  return kept;
}

void solve_component(const Links<double>& links, const std::vector<double>& inverse, int64_t k, Component& component) {
  const std::vector<int32_t>& nodes = component.nodes;
  const int64_t n = static_cast<int64_t>(nodes.size());
  if (n < 2) return;
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd trivial(n);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t node = nodes[i];
    trivial[i] = 1 / std::sqrt(inverse[node]);
    for (int64_t e = links.structure.begin[node]; e < links.structure.begin[node + 1]; ++e) {
      const int32_t to = links.structure.to[e];
      const auto j = std::lower_bound(nodes.begin(), nodes.end(), to) - nodes.begin();
      entries.emplace_back(static_cast<int>(i), static_cast<int>(j),
                           links.weight[e] * std::sqrt(inverse[node]) * std::sqrt(inverse[to]));
    }
  }
  Eigen::SparseMatrix<double> similarity(n, n);
  similarity.setFromTriplets(entries.begin(), entries.end());
  component.pairs = smallest_eigenpairs(similarity, trivial.normalized(), std::min(k, n - 1));
}

std::vector<Component> solve_components(const Links<double>& links, const at::Tensor& item, int64_t k) {
  const NodeOrder order = breadth_first_order(links.structure, nullptr);
  const std::vector<double> inverse = inverse_degrees(links);
  std::vector<Component> components(static_cast<size_t>(order.components()));
  at::parallel_for(0, order.components(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      std::vector<int32_t>& nodes = components[c].nodes;
      nodes.assign(order.node.begin() + order.component_begin[c], order.node.begin() + order.component_begin[c + 1]);
      std::sort(nodes.begin(), nodes.end());
      components[c].item = item.const_data_ptr<int64_t>()[nodes.front()];
      solve_component(links, inverse, k, components[c]);
    }
  });
  return components;
}

// One eigenpair of an item.
struct Choice {
  double value;
  const Component* component;
  int64_t column;
};

// Sorts the eigenpairs of an item in ascending order. Identical components have equal eigenvalues up to rounding, which
// must not affect the order; ties are sorted by position.
void sort_choices(std::vector<Choice>& choices) {
  const auto position = [](const Choice& choice) { return std::pair(choice.component->nodes.front(), choice.column); };
  std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.value < b.value; });
  for (auto begin = choices.begin(), end = begin; begin != choices.end(); begin = end) {
    ++end;
    while (end != choices.end() && end->value - begin->value <= 1e-9 * end->value + 1e-13) ++end;
    std::sort(begin, end, [&](const Choice& a, const Choice& b) { return position(a) < position(b); });
  }
}

template <typename T>
void write_item(std::vector<Choice>& choices, int64_t k, T* values, T* vectors) {
  sort_choices(choices);
  for (int64_t c = 0; c < std::min<int64_t>(k, static_cast<int64_t>(choices.size())); ++c) {
    const auto& [value, component, column] = choices[c];
    values[c] = static_cast<T>(value);
    for (size_t i = 0; i < component->nodes.size(); ++i) {
      vectors[component->nodes[i] * k + c] = static_cast<T>(component->pairs.vectors(static_cast<int64_t>(i), column));
    }
  }
}

// Splits each weight equally between both directions.
CsrGraph undirected(const CsrGraph& graph) {
  const CsrGraph both = symmetrized(graph);
  if (!both.weight.defined()) return both;
  const at::Tensor source = edge_sources(both), half = both.weight / 2;
  return graph_from_edges(at::cat({source, both.col}), at::cat({both.col, source}), both.nodes(), {},
                          at::cat({half, half}));
}

}  // namespace

LaplacianEncoding laplacian_pe(const at::Tensor& rowptr, const at::Tensor& col, int64_t k,
                               const std::optional<at::Tensor>& ptr, const std::optional<at::Tensor>& weight) {
  TORCH_CHECK(k >= 1, "k must be at least 1, got ", k);
  const CsrGraph graph{rowptr, col, {}, weight.value_or(at::Tensor())};
  check_graph(graph);
  TORCH_CHECK(k <= std::numeric_limits<int64_t>::max() / 8 / std::max<int64_t>(graph.nodes(), 1), "k = ", k,
              " columns of ", graph.nodes(), " nodes do not fit into memory");
  const std::vector<int64_t> offsets = packed_offsets(ptr, graph.nodes(), "ptr");
  check_batch({graph, offsets_tensor(offsets)});
  const std::vector<Component> components =
      solve_components(checked_links(rowptr, col, graph.weight), item_of_row(offsets), k);
  std::vector<std::vector<Choice>> choices(offsets.size() - 1);
  for (const Component& component : components) {
    for (int64_t c = 0; c < component.pairs.values.size(); ++c) {
      choices[component.item].push_back({component.pairs.values[c], &component, c});
    }
  }
  const at::TensorOptions options =
      at::TensorOptions().dtype(graph.weight.defined() ? graph.weight.scalar_type() : at::kFloat);
  const int64_t items = static_cast<int64_t>(choices.size());
  LaplacianEncoding encoding{at::zeros({graph.nodes(), k}, options), at::zeros({items, k}, options)};
  AT_DISPATCH_FLOATING_TYPES(encoding.vectors.scalar_type(), "laplacian_pe", [&] {
    for (int64_t b = 0; b < items; ++b) {
      write_item(choices[b], k, encoding.values.data_ptr<scalar_t>() + b * k, encoding.vectors.data_ptr<scalar_t>());
    }
  });
  return encoding;
}

LaplacianEncoding undirected_laplacian_pe(const GraphBatch& batch, int64_t k) {
  const CsrGraph graph = undirected(batch.graph);
  const auto weight = graph.weight.defined() ? std::optional(graph.weight) : std::nullopt;
  return laplacian_pe(graph.rowptr, graph.col, k, batch.ptr, weight);
}

at::Tensor random_signs(int64_t items, int64_t columns, at::Generator generator, at::ScalarType type) {
  return at::randint(0, 2, {items, columns}, generator, at::TensorOptions().dtype(type)) * 2 - 1;
}

at::Tensor with_signs(const at::Tensor& vectors, const at::Tensor& signs, const std::optional<at::Tensor>& ptr) {
  TORCH_CHECK(vectors.dim() == 2 && vectors.is_floating_point(), "vectors must be [N, k] of floating type, got ",
              vectors.scalar_type(), " ", vectors.sizes());
  const std::vector<int64_t> offsets = packed_offsets(ptr, vectors.size(0), "ptr");
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  TORCH_CHECK(signs.sizes() == at::IntArrayRef({items, vectors.size(1)}), "signs must be [", items, ", ",
              vectors.size(1), "], got ", signs.sizes());
  return vectors * copy_to_device(signs.index_select(0, item_of_row(offsets)), vectors.device());
}

at::Tensor with_random_signs(const at::Tensor& vectors, const std::optional<at::Tensor>& ptr, at::Generator generator) {
  TORCH_CHECK(vectors.dim() == 2, "vectors must be [N, k] of floating type, got ", vectors.scalar_type(), " ",
              vectors.sizes());
  const auto items = static_cast<int64_t>(packed_offsets(ptr, vectors.size(0), "ptr").size()) - 1;
  return with_signs(vectors, random_signs(items, vectors.size(1), std::move(generator), vectors.scalar_type()), ptr);
}

}  // namespace geosft
