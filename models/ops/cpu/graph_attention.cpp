// SPDX-License-Identifier: Apache-2.0
// Computes graph_attention on the CPU. Its attention bias is one constant per head for pairs without an edge, and the
// values of the touched pairs (SFT section 4.4).
#include "models/ops/graph_attention.h"

#include <cmath>

#include "models/ops/cpu/attention_arguments.h"
#include "models/ops/cpu/graph_edges.h"
#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/graph_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/row_accessor-inl.h"

#ifndef GEOSFT_GRAPH_ATTENTION_ONCE
#define GEOSFT_GRAPH_ATTENTION_ONCE
namespace geosft {
namespace {

// edge_attr [E, channels], weight [Nk] of the top relative to the partner. Edge gradients have one copy per range of
// heads (split), those of `weight` one per split and group of queries.
template <typename T>
struct GraphArrays {
  EdgeArrays graph{};
  const SampledNodes* sampled = nullptr;
  RowAccessor<const T> edge_attr;
  const T* weight = nullptr;
  int64_t channels = 0;
  RelativeWeights<T> weights;
  RowGradient<T> edge_grad;
  PartialSums<T> weight_grad;
  WeightGradients<T> weights_grad;
  int64_t groups = 0;
};

class GraphAttention {
 public:
  using Inputs = GraphInputs;
  GraphAttention(const Inputs& in, const AttentionArguments& arguments)
      : rowptr(opmath_contiguous(in.rowptr())),
        col(opmath_contiguous(in.col())),
        edge_attr(contiguous(in.edge_attr())),
        top(opmath_contiguous(in.top())),
        partner(opmath_contiguous(in.partner())),
        weight(opmath_contiguous(in.weight())),
        weights(in),
        sampled(edges(), arguments.offsets.first, arguments.offsets.second) {}

  template <typename T>
  GraphArrays<T> arrays(const AttentionProblem<T>&) const {
    GraphArrays<T> arrays;
    arrays.graph = edges();
    arrays.sampled = &sampled;
    arrays.edge_attr = stored_rows<T>(edge_attr, edge_attr.size(1));
    arrays.weight = pointer<T>(weight);
    arrays.channels = edge_attr.size(1);
    arrays.weights = weights.pointers<T>();
    return arrays;
  }

  template <typename T>
  void begin_gradients(const AttentionProblem<T>& problem, const BackwardPlan& plan, const OutputMask& output_mask,
                       GraphArrays<T>& arrays) const {
    arrays.edge_grad = row_gradient<T>(output_mask.bias_input(2), edge_attr, plan.splits);
    if (output_mask.bias_input(5)) arrays.weight_grad = PartialSums<T>(weight.sizes(), plan.splits * plan.groups);
    arrays.weights_grad = WeightGradients<T>(plan, edge_attr.size(1), problem.heads);
    arrays.groups = plan.groups;
  }
  template <typename T>
  std::vector<at::Tensor> gradients(GraphArrays<T>& arrays) const {
    return bias_gradients({arrays.edge_grad.finish(), arrays.weight_grad.sum()}, arrays.weights_grad);
  }
  SharedWidths widths(int64_t heads, const OutputMask& output_mask) const {
    const int64_t nodes = std::max<int64_t>(rowptr.size(0) - 1, 1);
    return {output_mask.bias_input(2) ? (edge_attr.numel() + nodes - 1) / nodes : 0, output_mask.bias_input(5) ? 1 : 0,
            WeightGradients<float>::width(edge_attr.size(1), heads)};
  }

 private:
  EdgeArrays edges() const {
    return {pointer<int64_t>(rowptr),
            pointer<int64_t>(col),
            pointer<int64_t>(top),
            pointer<int64_t>(partner),
            rowptr.size(0) - 1,
            col.size(0),
            top.size(0)};
  }

  at::Tensor rowptr, col, edge_attr, top, partner, weight;
  WeightArguments weights;
  SampledNodes sampled;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

template <typename T>
class GraphBias final : public AttentionBias<T> {
 public:
  using Arrays = GraphArrays<T>;

  GraphBias(const Arrays& arrays, int64_t heads, bool backward)
      : in_(arrays), to_(backward ? &arrays : nullptr), heads_(heads), mul_(kTile), add_(kTile) {}

  void begin_unit(const AttentionUnit& unit) override { unit_ = unit; }

  // Computes X_R of every touched pair: [pairs][top, partner][channels].
  void begin_block(int64_t first_query, int64_t rows) override {
    padded_ = padded_rows<T>(rows);
    const int64_t* const rowptr = in_.graph.rowptr + first_query;
    edges_ = {rowptr[0], rowptr[rows] - rowptr[0], 0, in_.channels};
    block_.find(in_.graph, *in_.sampled, first_query, rows, unit_.k_begin, unit_.k_end);
    channels_.assign(block_.pairs.size() * 2 * in_.channels, T(0));
    in_.edge_attr.visit([&](const auto* attributes) {
      for_touches([&](int64_t row, int64_t edge) {
        for (int64_t ch = 0; ch < in_.channels; ++ch) {
          channels_[row + ch] += static_cast<T>(attributes[edge * in_.channels + ch]);
        }
      });
    });
    if (to_) channel_gradient_.assign(channels_.size(), T(0));
  }

  void begin_tile(int64_t first_key, int64_t keys) override {
    first_key_ = first_key;
    keys_ = keys;
    first_pair_ = block_.first_pair(first_key);
    last_pair_ = block_.first_pair(first_key + keys);
  }

  BiasTile<T> fill(int64_t head) override {
    const T mul = softplus_of(in_.weights.b_mul[head]), add = in_.weights.b_add[head];
    for (int64_t j = 0; j < keys_; ++j) {
      std::fill_n(mul_.get() + j * kQueryBlock, padded_, mul);
      std::fill_n(add_.get() + j * kQueryBlock, padded_, add);
    }
    for (size_t p = first_pair_; p < last_pair_; ++p) {
      const Transformed t = transform(p, head);
      const int64_t at = position(p);
      mul_.get()[at] = t.weight * softplus_of(t.mul[0]) + (T(1) - t.weight) * softplus_of(t.mul[1]);
      add_.get()[at] = t.weight * t.add[0] + (T(1) - t.weight) * t.add[1];
    }
    return {mul_.get(), add_.get()};
  }

  void backward(int64_t head, T* add_grad, T* raw) override {
    T* mul_to = to_->weights_grad.mul(unit_.part, in_.channels, heads_) + head;
    T* add_to = to_->weights_grad.add(unit_.part, in_.channels, heads_) + head;
    for (size_t p = first_pair_; p < last_pair_; ++p) {
      const int64_t at = position(p);
      pair_backward(p, head, add_grad[at] * raw[at], add_grad[at], mul_to, add_to);
      add_grad[at] = T(0);  // the rest belongs to the pairs without an edge
    }
    const Tag<T> d;
    Vector<T> mul = hn::Zero(d), add = hn::Zero(d);
    for (int64_t j = 0; j < keys_; ++j) {
      for (int64_t i = 0; i < padded_; i += static_cast<int64_t>(hn::Lanes(d))) {
        const Vector<T> a = hn::Load(d, add_grad + j * kQueryBlock + i);
        mul = hn::MulAdd(a, hn::Load(d, raw + j * kQueryBlock + i), mul);
        add = hn::Add(add, a);
      }
    }
    mul_to[in_.channels * heads_] += sigmoid_of(in_.weights.b_mul[head]) * lane_sum<T>(mul);
    add_to[in_.channels * heads_] += lane_sum<T>(add);
  }

  // Adds the gradient of the sum to every edge of a pair.
  void end_block() override {
    if (!to_->edge_grad.defined()) return;
    const RowAccessor<T> result = to_->edge_grad.rows(unit_.split);
    if (!result.computed()) edge_gradient_.assign(static_cast<size_t>(edges_.size()), T(0));
    T* const sums = result.computed() ? result.at(edges_.row, 0) : edge_gradient_.data();
    for_touches([&](int64_t row, int64_t edge) {
      T* const to = sums + (edge - edges_.row) * in_.channels;
      for (int64_t ch = 0; ch < in_.channels; ++ch) to[ch] += channel_gradient_[row + ch];
    });
    if (!result.computed()) write_block(sums, result, edges_);
  }

 private:
  static constexpr int64_t kTile = kKeyTile * kQueryBlock;

  // X_R w + b for the top and the partner of a pair, before the softplus, and the weight of the top.
  struct Transformed {
    T mul[2], add[2], weight;
  };

  static T softplus_of(T x) { return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x))); }
  static T sigmoid_of(T x) { return T(1) / (T(1) + std::exp(-x)); }

  // Calls f(offset of the node's channels, edge) for every edge that touches a pair.
  template <class F>
  void for_touches(const F& f) const {
    for (size_t p = 0; p < block_.pairs.size(); ++p) {
      for (int64_t t = block_.pairs[p].begin; t < block_.pairs[p].end; ++t) {
        const Touch& touch = block_.touches[t];
        f((2 * static_cast<int64_t>(p) + touch.which) * in_.channels, touch.edge);
      }
    }
  }

  int64_t position(size_t p) const { return (block_.pairs[p].key - first_key_) * kQueryBlock + block_.pairs[p].query; }

  Transformed transform(size_t p, int64_t head) const {
    Transformed t{};
    t.weight = in_.weight[block_.pairs[p].key];
    for (int64_t which = 0; which < 2; ++which) {
      const T* x = channels_.data() + (2 * static_cast<int64_t>(p) + which) * in_.channels;
      t.mul[which] = in_.weights.b_mul[head];
      t.add[which] = in_.weights.b_add[head];
      for (int64_t ch = 0; ch < in_.channels; ++ch) {
        t.mul[which] += x[ch] * in_.weights.w_mul[ch * heads_ + head];
        t.add[which] += x[ch] * in_.weights.w_add[ch * heads_ + head];
      }
    }
    return t;
  }

  void pair_backward(size_t p, int64_t head, T mul_grad, T add_grad, T* mul_to, T* add_to) {
    const Transformed t = transform(p, head);
    if (to_->weight_grad.defined()) {
      to_->weight_grad.get(unit_.split * to_->groups + unit_.group)[block_.pairs[p].key] +=
          mul_grad * (softplus_of(t.mul[0]) - softplus_of(t.mul[1])) + add_grad * (t.add[0] - t.add[1]);
    }
    for (int64_t which = 0; which < 2; ++which) {
      const T share = which == 0 ? t.weight : T(1) - t.weight;
      const T mul = share * mul_grad * sigmoid_of(t.mul[which]), add = share * add_grad;
      const int64_t row = (2 * static_cast<int64_t>(p) + which) * in_.channels;
      for (int64_t ch = 0; ch < in_.channels; ++ch) {
        const int64_t w = ch * heads_;
        channel_gradient_[row + ch] += mul * in_.weights.w_mul[w + head] + add * in_.weights.w_add[w + head];
        mul_to[w] += mul * channels_[row + ch];
        add_to[w] += add * channels_[row + ch];
      }
      mul_to[in_.channels * heads_] += mul;
      add_to[in_.channels * heads_] += add;
    }
  }

  const Arrays& in_;
  const Arrays* to_;  // null in the forward pass
  int64_t heads_;
  Scratch<T> mul_, add_;
  TouchedBlock block_;
  Block edges_{};  // of the block's queries
  std::vector<T> channels_, channel_gradient_, edge_gradient_;
  AttentionUnit unit_{};
  int64_t padded_ = 0, first_key_ = 0, keys_ = 0;
  size_t first_pair_ = 0, last_pair_ = 0;
};

GEOSFT_ATTENTION_BIAS(GraphArrays, GraphBias)

GEOSFT_SIMD_END();

#if HWY_ONCE
GEOSFT_REGISTER_ATTENTION(GraphAttention)
#endif
