// SPDX-License-Identifier: Apache-2.0
// Reads the attention bias r_mul and r_add of maxout_attention in place; mul is 1 and add is 0 if they are absent.
// Neighbouring queries are far apart in an n x k array, so this bias is memory-bound: a bias that can be computed has
// its own operator.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"

namespace geosft::cuda {

template <typename T, Side kSide>
class DenseBias {
 public:
  template <int Own, int Other>
  struct Tiles {};
  struct RowSums {};     // gradients of one row of the tile, kept by its thread
  struct ThreadSums {};  // weight gradients, summed over all pairs of a thread

  GEOSFT_DEVICE DenseBias(const DenseArrays<T>& in, const AttentionArrays<T>& p, const TileRows& rows, int64_t head)
      : in_(in),
        heads_(p.heads),
        head_(head),
        own_offset_(rows.own.begin - rows.own.item_begin),
        other_begin_(rows.other.begin) {
    const RowRange keys = item_rows(p.keys, rows.own.item);
    keys_ = keys.end - keys.begin;
    first_ = in.pair_ptr ? in.pair_ptr[rows.own.item] : 0;
  }

  template <class Memory>
  GEOSFT_DEVICE void load_own(Memory&, int64_t /*begin*/, int /*count*/, int /*thread*/) const {}
  template <class Memory>
  GEOSFT_DEVICE void load_other(Memory&, int64_t /*begin*/, int /*count*/, int /*thread*/) const {}

  template <class Block, class Memory>
  GEOSFT_DEVICE void prepare(Block&, Memory&, int64_t /*first*/, int /*count*/) const {}
  template <class Block, class Memory, class Sums>
  GEOSFT_DEVICE void conclude(Block&, Memory&, int64_t /*first*/, int /*count*/, const Sums&) const {}

  template <class Memory>
  GEOSFT_DEVICE BiasValue<T> relative(const Memory&, const Pair& pair) const {
    BiasValue<T> result{T(1), T(0), T(0)};
    if (!in_.mul && !in_.add) return result;
    const int64_t at = place(pair);
    if (at < 0) return result;
    if (in_.mul) result.mul = in_.mul.read(at);
    if (in_.add) result.add = in_.add.read(at);
    return result;
  }

  // `score` is the gradient of the score, `raw` the factor of mul. Exactly one query-side thread handles each pair.
  template <class Memory>
  GEOSFT_DEVICE void collect(const Memory&, const Pair& pair, const BiasValue<T>&, T score, T raw, RowSums&,
                             ThreadSums&) const {
    if constexpr (kSide == Side::kQuery) {
      const int64_t at = in_.mul_grad || in_.add_grad ? place(pair) : -1;
      if (at >= 0 && in_.mul_grad) in_.mul_grad.write(at, score * raw);
      if (at >= 0 && in_.add_grad) in_.add_grad.write(at, score);
    }
  }

  GEOSFT_DEVICE void store(int64_t /*row*/, const RowSums&) const {}
  template <class Memory>
  GEOSFT_DEVICE void stage(Memory&, const ThreadSums&, int /*thread*/) const {}
  template <class Memory>
  GEOSFT_DEVICE void finish(const Memory&, int64_t /*slot*/, int /*thread*/) const {}

 private:
  // Index of the pair in r_mul and r_add, or -1 if it has none.
  GEOSFT_DEVICE int64_t place(const Pair& pair) const {
    const int64_t own = own_offset_ + pair.own, other = pair.other_begin - other_begin_ + pair.other;
    const int64_t row = first_ + (kSide == Side::kQuery ? own * keys_ + other : other * keys_ + own);
    return pair.inside && row >= 0 && row < in_.pairs ? row * heads_ + head_ : -1;
  }

  const DenseArrays<T>& in_;
  int64_t heads_, head_, own_offset_, other_begin_, keys_, first_;
};

struct DenseBiasTraits : OnePass {
  template <typename T>
  using Arrays = DenseArrays<T>;
  template <typename T, Side kSide>
  using Bias = DenseBias<T, kSide>;
  static constexpr bool kManyRows = true;
};

}  // namespace geosft::cuda
