// SPDX-License-Identifier: Apache-2.0
#include "graph/source_walker.h"

#include <algorithm>

namespace geosft {

template <typename T>
SourceWalker<T>::SourceWalker(const WalkGraph<T>& graph, int64_t largest_component)
    : graph_(graph), slots_(static_cast<size_t>(largest_component), Slot{T(0), 0}), reached_(slots_.size() + 1) {}

template <typename T>
void SourceWalker<T>::next_stamp() {
  if (++stamp_ != 0) return;
  for (Slot& slot : slots_) slot.stamp = 0;
  stamp_ = 1;
}

// Branch-free: whether a row is reached for the first time is hard to predict. Without a branch, the memory latencies
// of consecutive rows overlap.
template <typename T>
template <bool weighted>
void SourceWalker<T>::scatter(int64_t component) {
  const WalkLists<T>& lists = graph_.out;
  next_stamp();
  int32_t* reached = reached_.data();
  int64_t count = 0;
  for (const Place& place : places_) {
    const int64_t row = component + place.row, end = lists.begin[row + 1];
    for (int64_t e = lists.begin[row]; e < end; ++e) {
      const int32_t to = lists.neighbour[e];
      Slot& slot = slots_[to];
      const bool is_new = slot.stamp != stamp_;
      reached[count] = to;
      count += is_new;
      slot.sum = (is_new ? T(0) : slot.sum) + (weighted ? place.number * lists.weight[e] : place.number);
      slot.stamp = stamp_;
    }
  }
  reached_count_ = count;
}

template <typename T>
void SourceWalker<T>::run(int64_t c, int64_t first, int64_t steps, T* out) {
  const int64_t component = graph_.order.component_begin[c];
  const int64_t size = graph_.order.component_begin[c + 1] - component;
  for (int64_t source = first; source < std::min(first + walk_sources<T>, size); ++source) {
    run_source(component, source, steps, out + graph_.order.node[component + source] * steps);
  }
}

// Computes the same sums as PatchWalker::run_symmetric, over the reached rows only.
template <typename T>
void SourceWalker<T>::run_source(int64_t component, int64_t source, int64_t steps, T* result) {
  const double scale = static_cast<double>(graph_.inverse_degree[component + source]);
  places_.assign(1, Place{static_cast<int32_t>(source), T(1)});
  for (int64_t t = 0; t < steps; t += 2) {
    graph_.out.weight.empty() ? scatter<false>(component) : scatter<true>(component);
    double odd = 0, even = 0;
    for (const Place& place : places_) {
      const Slot& slot = slots_[place.row];
      if (slot.stamp == stamp_) odd += static_cast<double>(slot.sum) * static_cast<double>(place.number);
    }
    places_.clear();
    for (int64_t r = 0; r < reached_count_; ++r) {
      const int32_t row = reached_[r];
      const T sum = slots_[row].sum, number = sum * graph_.inverse_degree[component + row];
      even += static_cast<double>(sum) * static_cast<double>(number);
      places_.push_back({row, number});
    }
    result[t] = static_cast<T>(odd * scale);
    if (t + 1 < steps) result[t + 1] = static_cast<T>(even * scale);
  }
}

template class SourceWalker<float>;
template class SourceWalker<double>;

}  // namespace geosft
