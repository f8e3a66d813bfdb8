// SPDX-License-Identifier: Apache-2.0
// Defines the inputs and outputs of the attention kernels as contiguous, checked arrays. T is the type that kernels
// compute in; inputs and results of operators may be stored in a half type.
#pragma once

#include <cstdint>

#include "geometry/cuda/packed_tiles.h"
#include "models/ops/cuda/accessor.h"

namespace geosft::cuda {

// Threads per block: two warps, so that items of a few hundred keys or queries still fill blocks.
inline constexpr int kThreads = 64;
// Maximum channels per head that the kernels hold in registers and shared memory.
inline constexpr int64_t kMaxWidth = 128;

// q [Nq, heads, c], k [Nk, heads, c], v [Nk, heads, cv], leak [Nk, heads]; scale = 1 / sqrt(c). many_queries and
// many_keys choose tiles with several rows per thread: see attention_sizes.h.
template <typename T>
struct AttentionArrays {
  Accessor<const T> q, k, v, leak;
  int64_t heads;
  int c, cv;
  T eps, scale;
  PackedRows queries, keys;
  bool many_queries, many_keys;
};

// out [Nq, heads, cv], denominator [Nq, heads].
template <typename T>
struct ForwardTargets {
  Accessor<T> out;
  T* denominator;
};

// grad, out [Nq, heads, cv], denominator [Nq, heads]. A first kernel computes `share` = 1 / denominator (0 if that
// overflows) and `delta` = share * grad . out, both [Nq, heads]; the gradients q, k, v and leak are computed from them.
template <typename T>
struct BackwardTargets {
  Accessor<const T> grad, out;
  const T* denominator;
  T* share;
  T* delta;
  Accessor<T> q, k, v, leak;
};

// r_mul and r_add [pairs, heads], either may be null; the rows of item b begin at pair_ptr[b]. The gradients have the
// same shapes.
template <typename T>
struct DenseArrays {
  Accessor<const T> mul, add;
  const int64_t* pair_ptr;
  int64_t pairs;
  Accessor<T> mul_grad, add_grad;
};

// Coordinates and normals [rows, 3] (normals may be null), weights [channels, heads], biases [heads]. Row gradients are
// accumulated per head, [rows, heads, 3], and are null if not requested. Weight gradients are accumulated per query
// tile, [slots, heads, 6]: the two channels and the bias of mul, then those of add.
template <typename T>
struct PointArrays {
  Accessor<const T> x, xs, m, ms;
  Accessor<const T> w_mul, b_mul, w_add, b_add;
  T* x_grad;
  T* xs_grad;
  T* m_grad;
  T* ms_grad;
  T* weight_grad;
};

// CSR of the packed graphs (rowptr [Nq + 1], col [edges]) and the contribution of each edge to X_R w per head, mul and
// add [edges, heads]. The keys that contain node n are node_keys[node_ptr[n]] … node_keys[node_ptr[n + 1] - 1], encoded
// as 2 j if n is the top of key j and 2 j + 1 if it is its partner; node_ptr [Nq + 1], node_keys [2 Nk]. weight [Nk],
// biases [heads]. Gradients: mul_grad and add_grad as mul and add, weight_grad [Nk, heads], bias_grad [slots, heads, 2]
// (see PointArrays).
template <typename T>
struct GraphArrays {
  const int64_t* rowptr;
  const int64_t* col;
  int64_t edges;
  const int64_t* node_ptr;
  const int64_t* node_keys;
  Accessor<const T> weight;
  const T* mul;
  const T* add;
  Accessor<const T> b_mul, b_add;
  T* mul_grad;
  T* add_grad;
  T* weight_grad;
  T* bias_grad;
};

// s [Nq, depth], ss [Nk, depth], weights [depth, heads], biases [heads]. A backward pass computes the gradients of
// SequenceBias::kChannels channels from first_channel on: s_grad [Nq, heads, depth], which may be null; product [Nk,
// heads, 2, depth] with sum_i dmul_ij s_i and sum_i dadd_ij s_i; bias_grad [slots, heads, 2] (see PointArrays).
template <typename T>
struct SequenceArrays {
  Accessor<const T> s, ss;
  int64_t depth;
  Accessor<const T> w_mul, b_mul, w_add, b_add;
  int64_t first_channel;
  T* s_grad;
  T* product;
  T* bias_grad;
};

// Arguments of a launch of the forward or the backward kernels: see kernel_launcher.h.
template <class BiasTraits, typename T>
struct AttentionForwardCall {
  AttentionArrays<T> problem;
  typename BiasTraits::template Arrays<T> bias;
  ForwardTargets<T> to;
};
template <class BiasTraits, typename T>
struct AttentionBackwardCall {
  AttentionArrays<T> problem;
  typename BiasTraits::template Arrays<T> bias;
  BackwardTargets<T> to;
};

}  // namespace geosft::cuda
