// SPDX-License-Identifier: Apache-2.0
// Computes the attention bias of sequence_attention (SFT section 4.4): X_R[i, j, t] = s[i, t] ss[j, t], so X_R w is for
// each head a product of s with ss w over `depth` channels. It is summed in shared memory, kChannels at a time, for any
// depth. In the backward pass the same memory holds the gradients of the two products, which are multiplied with the
// columns for kChannels of the gradient; for more channels the pass is run again.
//
// Bound: 4 multiply-adds per (query, key, channel) forward, compared with 2 to 3 issue slots for each of the c channels
// of the score: with a depth of at least 4 c this term takes nearly all of the time.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"
#if !defined(__CUDACC__)
#include "models/ops/cuda/attention_arguments.h"
#endif

namespace geosft::cuda {

// s [Nq, depth], ss [Nk, depth], weights [depth, heads], biases [heads]. A backward pass computes the gradients of
// SequenceBias::kChannels channels from first_channel on: s_grad [Nq, heads, depth], which may be null; product [Nk,
// heads, 2, depth] with sum_i dmul_ij s_i and sum_i dadd_ij s_i; bias_grad [blocks, heads, 2] (see PointArrays).
template <typename T>
struct SequenceArrays {
  Accessor<const T> s, ss;
  int64_t depth;
  RelativeWeights<T> weights;
  int64_t first_channel;
  T* s_grad;
  T* product;
  T* bias_grad;
};

template <typename T>
inline constexpr int kSequenceChannels = sizeof(T) == 8 ? 16 : 32;  // as many as fit in shared memory

template <typename T, RowKind kRowKind>
class SequenceBias : public BiasGradients<T, kRowKind> {
  using Base = BiasGradients<T, kRowKind>;
  using Base::head_;
  using Base::heads_;

 public:
  static constexpr bool kOfQueries = kRowKind == RowKind::kQuery;
  static constexpr int kChannels = kSequenceChannels<T>, kGroup = 4;

  // mul and add: X_R w of the pairs, then the gradients of these. Rows are padded by one number: see GraphBias.
  template <int Rows, int Columns>
  struct Tiles {
    T mul[Rows][Columns + 1], add[Rows][Columns + 1];
    T row[Rows][kChannels + 1];
    T column_mul[Columns][kChannels], column_add[Columns][kChannels];
    StagedBiases<T> staged;
  };
  struct RowSums {
    T mul[kChannels], add[kChannels];
  };
  using ThreadSums = typename Base::ThreadSums;

  GEOSFT_DEVICE SequenceBias(const SequenceArrays<T>& in, const AttentionArrays<T>& p, const TileSpan& span,
                             int64_t head)
      : Base{{}, p.heads, head, in.bias_grad},
        in_(in),
        row_begin_(span.rows.begin),
        row_end_(span.rows.end),
        b_mul_(in.weights.b_mul.read(head)),
        b_add_(in.weights.b_add.read(head)) {}

  template <class Block, class Memory>
  GEOSFT_DEVICE void prepare(Block& block, Memory& memory, int64_t first, int count) const {
    block.each([&](int thread) { clear(memory, thread); });
    for (int64_t channel = 0; channel < in_.depth; channel += kChannels) {
      block.each([&](int thread) {
        load_channels(memory.row, row_inputs(), row_begin_, static_cast<int>(row_end_ - row_begin_), channel, thread);
        load_weighed(memory.column_mul, memory.column_add, first, count, channel, thread);
      });
      block.each([&](int thread) { multiply(memory, count, thread); });
    }
  }

  template <class Memory>
  GEOSFT_DEVICE BiasValue<T> value(const Memory& memory, const Pair& pair) const {
    const Softplus<T> mul = softplus_with_slope(memory.mul[pair.row][pair.column] + b_mul_);
    return {mul.value, memory.add[pair.row][pair.column] + b_add_, mul.slope};
  }

  template <class Memory>
  GEOSFT_DEVICE void collect(Memory& memory, const Pair& pair, const BiasValue<T>& value, T score, T raw, RowSums&,
                             ThreadSums& sums) const {
    const T to_mul = score * raw * value.slope;
    memory.mul[pair.row][pair.column] = to_mul;
    memory.add[pair.row][pair.column] = score;
    sums.mul += to_mul;
    sums.add += score;
  }

  // Adds to sums(thread) the gradients of the pairs times the columns' channels.
  template <class Block, class Memory, class Sums>
  GEOSFT_DEVICE void conclude(Block& block, Memory& memory, int64_t first, int count, const Sums& sums) const {
    if (!needed()) return;
    block.each([&](int thread) {
      load_channels(memory.column_mul, column_inputs(), first, count, in_.first_channel, thread);
    });
    block.each([&](int thread) {
      RowSums& row = sums(thread);
      for (int column = 0; column < count; ++column) {
        const T mul = memory.mul[thread][column], add = memory.add[thread][column];
        GEOSFT_UNROLL
        for (int t = 0; t < kChannels; ++t) {
          row.mul[t] += mul * memory.column_mul[column][t];
          row.add[t] += add * memory.column_mul[column][t];
        }
      }
    });
  }

  GEOSFT_DEVICE void store(int64_t row, const RowSums& sums) const {
    if (!needed()) return;
    const int64_t at = row * heads_ + head_;
    GEOSFT_UNROLL
    for (int t = 0; t < kChannels; ++t) {
      const int64_t channel = in_.first_channel + t;
      if (channel >= in_.depth) continue;
      if constexpr (kOfQueries) {
        const int64_t w = channel * heads_ + head_;
        in_.s_grad[at * in_.depth + channel] =
            sums.mul[t] * in_.weights.w_mul.read(w) + sums.add[t] * in_.weights.w_add.read(w);
      } else {
        in_.product[at * 2 * in_.depth + channel] = sums.mul[t];
        in_.product[(at * 2 + 1) * in_.depth + channel] = sums.add[t];
      }
    }
  }

 private:
  // Returns whether the gradients of the rows are needed; the weight gradients always need those of the keys.
  GEOSFT_DEVICE bool needed() const { return !kOfQueries || in_.s_grad; }
  GEOSFT_DEVICE const Accessor<const T>& row_inputs() const { return kOfQueries ? in_.s : in_.ss; }
  GEOSFT_DEVICE const Accessor<const T>& column_inputs() const { return kOfQueries ? in_.ss : in_.s; }

  template <int Rows, int Columns>
  GEOSFT_DEVICE static void clear(Tiles<Rows, Columns>& memory, int thread) {
    static_assert(Rows == kThreads && Columns % kGroup == 0, "a thread a row, whole groups");
    for (int column = 0; column < Columns; ++column) memory.mul[thread][column] = memory.add[thread][column] = 0;
  }

  template <int Rows, int Stride>
  GEOSFT_DEVICE void load_channels(T (&tile)[Rows][Stride], const Accessor<const T>& source, int64_t first, int count,
                                   int64_t channel, int thread) const {
    source.visit([&](const auto* numbers) {
      for (int i = thread; i < Rows * kChannels; i += kThreads) {
        const int row = i / kChannels, t = i % kChannels;
        const bool there = row < count && channel + t < in_.depth;
        tile[row][t] = there ? widened(numbers[(first + row) * in_.depth + channel + t]) : T(0);
      }
    });
  }

  template <int Rows>
  GEOSFT_DEVICE void load_weighed(T (&mul)[Rows][kChannels], T (&add)[Rows][kChannels], int64_t first, int count,
                                  int64_t channel, int thread) const {
    for (int i = thread; i < Rows * kChannels; i += kThreads) {
      const int row = i / kChannels, t = i % kChannels;
      const bool there = row < count && channel + t < in_.depth;
      const T value = there ? column_inputs().read((first + row) * in_.depth + channel + t) : T(0);
      const int64_t w = (channel + t) * heads_ + head_;
      mul[row][t] = there ? value * in_.weights.w_mul.read(w) : T(0);
      add[row][t] = there ? value * in_.weights.w_add.read(w) : T(0);
    }
  }

  template <class Memory>
  GEOSFT_DEVICE static void multiply(Memory& memory, int count, int thread) {
    for (int group = 0; group < count; group += kGroup) {
      T mul[kGroup], add[kGroup];
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        mul[g] = memory.mul[thread][group + g];
        add[g] = memory.add[thread][group + g];
      }
      for (int t = 0; t < kChannels; ++t) {
        const T row = memory.row[thread][t];
        GEOSFT_UNROLL
        for (int g = 0; g < kGroup; ++g) {
          mul[g] += row * memory.column_mul[group + g][t];
          add[g] += row * memory.column_add[group + g][t];
        }
      }
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        memory.mul[thread][group + g] = mul[g];
        memory.add[thread][group + g] = add[g];
      }
    }
  }

  const SequenceArrays<T>& in_;
  int64_t row_begin_, row_end_;
  T b_mul_, b_add_;
};

// The sums of the pairs of several rows would not fit in shared memory.
struct SequenceBiasTraits : BiasTypes<SequenceArrays, SequenceBias, false> {
  // Every pass computes the gradients of kSequenceChannels channels, and recomputes those of q, k, v and the rest.
  template <RowKind kRowKind, typename T, class Body>
  static void each_pass(SequenceArrays<T> arrays, const Body& body) {
    const bool needed = kRowKind == RowKind::kKey || arrays.s_grad;
    for (arrays.first_channel = 0; arrays.first_channel < (needed ? arrays.depth : 1);
         arrays.first_channel += kSequenceChannels<T>) {
      body(arrays);
    }
  }
};

#if !defined(__CUDACC__)
// Provides the attention bias of sequence_attention from tensors: position encodings and weights.
class SequenceOperator : public BiasOperator<SequenceInputs, SequenceBiasTraits> {
 public:
  SequenceOperator(const Inputs& in, const AttentionArguments& arguments)
      : s_(contiguous(in.s())), ss_(contiguous(in.ss())), weights_(in), computed_(arguments.computed()) {}

  template <typename T>
  SequenceArrays<T> arrays() const {
    SequenceArrays<T> arrays{};
    arrays.s = stored<T>(s_);
    arrays.ss = stored<T>(ss_);
    arrays.depth = s_.size(1);
    arrays.weights = weights_.arrays<T>();
    return arrays;
  }

  // Row gradients are accumulated per head; those of the keys are multiplied by the weights afterwards.
  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, const OutputMask& output_mask, SequenceArrays<T>& arrays) {
    s_grad_ = at::empty({output_mask.bias_input(0) ? s_.size(0) : 0, problem.heads, s_.size(1)}, computed_);
    product_ = at::empty({ss_.size(0), problem.heads, 2, s_.size(1)}, computed_);
    bias_grad_ = at::zeros({gradient_blocks<SequenceBiasTraits>(problem), problem.heads, 2}, computed_);
    ss_needed_ = output_mask.bias_input(1);
    if (output_mask.bias_input(0)) arrays.s_grad = target<T>(s_grad_);
    arrays.product = target<T>(product_);
    arrays.bias_grad = target<T>(bias_grad_);
  }

  std::vector<at::Tensor> gradients() const {
    const at::Tensor weights = at::stack({weights_.w_mul.t(), weights_.w_add.t()}, 1);  // [heads, 2, depth]
    const at::Tensor weight_grad =
        (product_ * ss_.unsqueeze(1).unsqueeze(1)).sum(0).transpose(0, 2);  // [depth, 2, heads]
    const at::Tensor biases = bias_grad_.sum(0);
    return {s_grad_.sum(1),
            ss_needed_ ? (product_ * weights).sum({1, 2}) : at::empty({0}, computed_),
            weight_grad.select(1, 0).contiguous(),
            biases.select(1, 0).contiguous(),
            weight_grad.select(1, 1).contiguous(),
            biases.select(1, 1).contiguous()};
  }

 private:
  at::Tensor s_, ss_;
  WeightArguments weights_;
  at::TensorOptions computed_;
  at::Tensor s_grad_, product_, bias_grad_;
  bool ss_needed_ = true;
};
#endif

}  // namespace geosft::cuda
