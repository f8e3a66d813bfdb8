// SPDX-License-Identifier: Apache-2.0
#include "graph/patch_walker.h"

#include <algorithm>
#include <array>
#include <utility>

#include "graph/walk_kernels.h"

namespace geosft {
namespace {

template <typename T>
using Sums = std::array<double, walk_sources<T>>;

}  // namespace

template <typename T>
PatchWalker<T>::PatchWalker(const WalkGraph<T>& graph, int64_t largest_component)
    : graph_(graph), there_(largest_component) {
  if (!graph.symmetric) back_.emplace_back(largest_component);
}

template <typename T>
void PatchWalker<T>::run(int64_t c, int64_t first, int64_t steps, T* out) {
  const std::vector<int64_t>& begin = graph_.order.component_begin;
  const int64_t size = begin[c + 1] - begin[c];
  const Patch patch{begin[c], size, first, std::min(walk_sources<T>, size - first)};
  graph_.symmetric ? run_symmetric(patch, steps, out) : run_general(patch, steps, out);
}

template <typename T>
void PatchWalker<T>::start(Front& front, const Patch& patch) {
  front.reach.start(patch.first, patch.sources);
  for (int64_t s = 0; s < patch.sources; ++s) front.from.at(patch.first + s, s) = T(1);
}

// Sets all values back to zero.
template <typename T>
void PatchWalker<T>::finish(Front& front, const Patch& patch) {
  const RowList list = rows_of(front, patch);
  front.from.clear(list.rows, list.count);
  front.to.clear(list.rows, list.count);
}

// Returns the rows that walks have reached, or all rows of the component once most are reached.
template <typename T>
typename PatchWalker<T>::RowList PatchWalker<T>::rows_of(const Front& front, const Patch& patch) const {
  const int64_t reached = front.reach.size();
  if (2 * reached > patch.size) return {graph_.by_length.data() + patch.component, patch.size};
  return {front.reach.rows().data(), reached};
}

template <typename T>
typename PatchWalker<T>::RowList PatchWalker<T>::step(Front& front, const Patch& patch, const WalkLists<T>& reach,
                                                      const WalkLists<T>& lists, double* even, double* odd) {
  if (2 * front.reach.size() <= patch.size) front.reach.expand(reach, patch.component);
  const RowList list = rows_of(front, patch);
  const WalkStep<T> arguments{lists.begin.data() + patch.component,
                              lists.neighbour.data(),
                              lists.weight.empty() ? nullptr : lists.weight.data(),
                              graph_.inverse_degree.data() + patch.component,
                              list.rows,
                              list.count,
                              front.from.data(),
                              front.to.data()};
  graph_.symmetric ? walk_step_symmetric(arguments, even, odd) : walk_step(arguments);
  std::swap(front.from, front.to);
  return list;
}

template <typename T>
void PatchWalker<T>::store(const Patch& patch, const double* sum, int64_t t, int64_t steps, T* out) const {
  if (t > steps) return;
  for (int64_t s = 0; s < patch.sources; ++s) {
    const int64_t row = patch.component + patch.first + s;
    const double scale = graph_.symmetric ? static_cast<double>(graph_.inverse_degree[row]) : 1.0;
    out[graph_.order.node[row] * steps + t - 1] = static_cast<T>(sum[s] * scale);
  }
}

// Computes column i of P^t for t = 1 … ceil(steps / 2), which gives the diagonals of P^(2t - 1) and P^(2t).
template <typename T>
void PatchWalker<T>::run_symmetric(const Patch& patch, int64_t steps, T* out) {
  start(there_, patch);
  for (int64_t t = 1; t <= steps; t += 2) {
    Sums<T> even{}, odd{};
    step(there_, patch, graph_.out, graph_.out, even.data(), odd.data());
    store(patch, odd.data(), t, steps, out);
    store(patch, even.data(), t + 1, steps, out);
  }
  finish(there_, patch);
}

// Uses that (P^(a+b))_ii is the product of row i of P^a (walks that leave i) and column i of P^b (walks to i).
template <typename T>
void PatchWalker<T>::run_general(const Patch& patch, int64_t steps, T* out) {
  Front& back = back_.front();
  start(there_, patch);
  start(back, patch);
  for (int64_t t = 1; t <= steps; t += 2) {
    Sums<T> odd{}, even{};
    const RowList list = step(there_, patch, graph_.out, graph_.in, nullptr, nullptr);
    walk_product(there_.from.data(), back.from.data(), list.rows, list.count, odd.data());
    store(patch, odd.data(), t, steps, out);
    step(back, patch, graph_.in, graph_.out, nullptr, nullptr);
    walk_product(there_.from.data(), back.from.data(), list.rows, list.count, even.data());
    store(patch, even.data(), t + 1, steps, out);
  }
  finish(there_, patch);
  finish(back, patch);
}

template class PatchWalker<float>;
template class PatchWalker<double>;

}  // namespace geosft
