// SPDX-License-Identifier: Apache-2.0
#include "graph/node_order.h"

namespace geosft {
namespace {

// Calls visit(neighbour) for each neighbour of `node` in both directions.
template <class Visit>
void visit_neighbours(const LinkStructure& forward, const LinkStructure* backward, int64_t node, const Visit& visit) {
  for (int64_t e = forward.begin[node]; e < forward.begin[node + 1]; ++e) visit(forward.to[e]);
  if (backward == nullptr) return;
  for (int64_t e = backward->begin[node]; e < backward->begin[node + 1]; ++e) visit(backward->to[e]);
}

std::vector<int32_t> inverted(const std::vector<int32_t>& node) {
  std::vector<int32_t> row(node.size());
  for (size_t i = 0; i < node.size(); ++i) row[node[i]] = static_cast<int32_t>(i);
  return row;
}

// Collects nodes into patches of a given size.
class PatchBuilder {
 public:
  PatchBuilder(const LinkStructure& forward, const LinkStructure* backward, int64_t size)
      : forward_(forward), backward_(backward), size_(size), placed_(static_cast<size_t>(forward.nodes()), 0) {
    node_.reserve(placed_.size());
  }

  // Begins a new patch.
  void close_patch() { patch_begin_ = static_cast<int64_t>(node_.size()); }

  // Fills the current patch breadth-first from `seed` with nodes not yet placed.
  void grow(int32_t seed) {
    if (placed_[seed]) return;
    size_t next = node_.size();
    place(seed);
    while (next < node_.size() && !full()) {
      visit_neighbours(forward_, backward_, node_[next++], [&](int32_t neighbour) {
        if (!placed_[neighbour] && !full()) place(neighbour);
      });
    }
    if (full()) close_patch();
  }

  std::vector<int32_t> take() { return std::move(node_); }

 private:
  bool full() const { return static_cast<int64_t>(node_.size()) - patch_begin_ == size_; }
  void place(int32_t node) {
    placed_[node] = 1;
    node_.push_back(node);
  }

  const LinkStructure& forward_;
  const LinkStructure* backward_;
  int64_t size_, patch_begin_ = 0;
  std::vector<uint8_t> placed_;
  std::vector<int32_t> node_;
};

}  // namespace

NodeOrder breadth_first_order(const LinkStructure& forward, const LinkStructure* backward) {
  const int64_t nodes = forward.nodes();
  NodeOrder order;
  order.node.reserve(static_cast<size_t>(nodes));
  std::vector<uint8_t> reached(static_cast<size_t>(nodes), 0);
  const auto reach = [&](int32_t node) {
    if (reached[node]) return;
    reached[node] = 1;
    order.node.push_back(node);
  };
  for (int64_t seed = 0; seed < nodes; ++seed) {
    if (reached[seed]) continue;
    size_t next = order.node.size();
    order.component_begin.push_back(static_cast<int64_t>(next));
    reach(static_cast<int32_t>(seed));
    while (next < order.node.size()) visit_neighbours(forward, backward, order.node[next++], reach);
  }
  order.component_begin.push_back(nodes);
  order.row = inverted(order.node);
  return order;
}

NodeOrder patched_order(const LinkStructure& forward, const LinkStructure* backward, int64_t size) {
  NodeOrder order = breadth_first_order(forward, backward);
  PatchBuilder patches(forward, backward, size);
  for (int64_t c = 0; c < order.components(); ++c) {
    patches.close_patch();
    for (int64_t i = order.component_begin[c]; i < order.component_begin[c + 1]; ++i) patches.grow(order.node[i]);
  }
  order.node = patches.take();
  order.row = inverted(order.node);
  return order;
}

at::Tensor connected_components(const CsrGraph& graph) {
  check_graph(graph);
  const Links<float> links = read_links<float>(graph.rowptr, graph.col, std::nullopt);
  const Links<float> backward = transposed(links);
  const NodeOrder order = breadth_first_order(links.structure, &backward.structure);
  at::Tensor component = at::empty({graph.nodes()}, at::kLong);
  int64_t* out = component.data_ptr<int64_t>();
  for (int64_t c = 0; c < order.components(); ++c) {
    for (int64_t i = order.component_begin[c]; i < order.component_begin[c + 1]; ++i) out[order.node[i]] = c;
  }
  return component;
}

}  // namespace geosft
