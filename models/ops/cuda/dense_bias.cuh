// SPDX-License-Identifier: Apache-2.0
// Reads the attention bias r_mul and r_add of maxout_attention in place; mul is 1 and add is 0 if they are absent.
// Neighbouring queries are far apart in an n x k array, so this bias is memory-bound: a bias that can be computed has
// its own operator.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"
#if !defined(__CUDACC__)
#include "models/ops/cuda/attention_arguments.h"
#endif

namespace geosft::cuda {

// r_mul and r_add [pairs, heads], either may be null; the rows of item b begin at pair_ptr[b]. The gradients have the
// same shapes.
template <typename T>
struct DenseArrays {
  Accessor<const T> mul, add;
  const int64_t* pair_ptr;
  int64_t pairs;
  Accessor<T> mul_grad, add_grad;
};

template <typename T, RowKind kRowKind>
class DenseBias : public BiasSteps {
 public:
  template <int Rows, int Columns>
  struct Tiles {};
  struct RowSums {};     // gradients of one row of the tile, kept by its thread
  struct ThreadSums {};  // weight gradients, summed over all pairs of a thread

  GEOSFT_DEVICE DenseBias(const DenseArrays<T>& in, const AttentionArrays<T>& p, const TileSpan& span, int64_t head)
      : in_(in),
        heads_(p.heads),
        head_(head),
        row_offset_(span.rows.begin - span.rows.item_begin),
        column_begin_(span.columns.begin) {
    const RowRange keys = item_rows(p.keys, span.rows.item);
    keys_ = keys.end - keys.begin;
    first_ = in.pair_ptr ? in.pair_ptr[span.rows.item] : 0;
  }

  template <class Memory>
  GEOSFT_DEVICE BiasValue<T> value(const Memory&, const Pair& pair) const {
    BiasValue<T> result{T(1), T(0), T(0)};
    if (!in_.mul && !in_.add) return result;
    const int64_t at = place(pair);
    if (at < 0) return result;
    if (in_.mul) result.mul = in_.mul.read(at);
    if (in_.add) result.add = in_.add.read(at);
    return result;
  }

  // `score` is the gradient of the score, `raw` the factor of mul. Exactly one thread handles each pair in the kernel
  // of queries.
  template <class Memory>
  GEOSFT_DEVICE void collect(const Memory&, const Pair& pair, const BiasValue<T>&, T score, T raw, RowSums&,
                             ThreadSums&) const {
    if constexpr (kRowKind == RowKind::kQuery) {
      const int64_t at = in_.mul_grad || in_.add_grad ? place(pair) : -1;
      if (at >= 0 && in_.mul_grad) in_.mul_grad.write(at, score * raw);
      if (at >= 0 && in_.add_grad) in_.add_grad.write(at, score);
    }
  }

 private:
  // Index of the pair in r_mul and r_add, or -1 if it has none.
  GEOSFT_DEVICE int64_t place(const Pair& pair) const {
    const int64_t row = row_offset_ + pair.row, column = pair.column_begin - column_begin_ + pair.column;
    const int64_t entry = first_ + (kRowKind == RowKind::kQuery ? row * keys_ + column : column * keys_ + row);
    return pair.inside && entry >= 0 && entry < in_.pairs ? entry * heads_ + head_ : -1;
  }

  const DenseArrays<T>& in_;
  int64_t heads_, head_, row_offset_, column_begin_, keys_, first_;
};

using DenseBiasTraits = BiasTypes<DenseArrays, DenseBias, true>;

#if !defined(__CUDACC__)
// Provides the attention bias of maxout_attention from tensors: r_mul and r_add.
class DenseOperator : public BiasOperator<MaxoutInputs, DenseBiasTraits> {
 public:
  DenseOperator(const Inputs& in, const AttentionArguments& arguments)
      : mul_(contiguous(in.r_mul())), add_(contiguous(in.r_add())) {
    if (!mul_.defined() && !add_.defined()) return;
    pairs_ = (mul_.defined() ? mul_ : add_).size(0);
    if (!arguments.q_ptr.defined()) {
      pair_ptr_ = at::zeros({1}, arguments.q.options().dtype(at::kLong));
      return;
    }
    TORCH_CHECK(!mul_.defined() || !add_.defined() || add_.size(0) == pairs_, "r_add must have the rows of r_mul, ",
                pairs_, ", got shape ", add_.sizes());
    const at::Tensor counts = arguments.q_ptr.diff() * arguments.k_ptr.diff();
    pair_ptr_ = counts.cumsum(0) - counts;
  }

  template <typename T>
  DenseArrays<T> arrays() const {
    return {stored<T>(mul_), stored<T>(add_), pointer<int64_t>(pair_ptr_), pairs_, {}, {}};
  }

  template <typename T>
  void begin_gradients(const AttentionArrays<T>&, const OutputMask& output_mask, DenseArrays<T>& arrays) {
    const auto like = [&](const at::Tensor& pairs, bool needed) {
      if (!pairs.defined()) return Accessor<T>{};
      gradients_.push_back(needed ? at::zeros_like(pairs) : at::empty({0}, pairs.options()));
      return needed ? storable<T>(gradients_.back()) : Accessor<T>{};
    };
    arrays.mul_grad = like(mul_, output_mask.bias_input(0));
    arrays.add_grad = like(add_, output_mask.bias_input(1));
  }
  std::vector<at::Tensor> gradients() const { return gradients_; }

 private:
  at::Tensor mul_, add_, pair_ptr_;
  int64_t pairs_ = 0;
  std::vector<at::Tensor> gradients_;
};
#endif

}  // namespace geosft::cuda
