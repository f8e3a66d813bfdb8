// SPDX-License-Identifier: Apache-2.0
// Computes the attention bias of graph_attention (SFT section 4.4). X_R w of the pairs that edges touch is summed in
// shared memory, one tile of keys at a time; all other pairs have the constants of their head. The edges of a query are
// matched to keys through the list of the keys that contain each node: the work is proportional to the number of edges,
// once for every tile of keys and head.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"
#if !defined(__CUDACC__)
#include "models/ops/cuda/attention_arguments.h"
#endif

namespace geosft::cuda {

// CSR of the packed graphs (rowptr [Nq + 1], col [edges]) and the contribution of each edge to X_R w per head, mul and
// add [edges, heads]. The keys that contain node n are node_keys[node_ptr[n]] … node_keys[node_ptr[n + 1] - 1], encoded
// as 2 j if n is the top of key j and 2 j + 1 if it is its partner; node_ptr [Nq + 1], node_keys [2 Nk]. weight [Nk],
// biases [heads]. Gradients: mul_grad and add_grad as mul and add, weight_grad [Nk, heads], bias_grad [blocks, heads,
// 2] (see PointArrays).
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

template <typename T, RowKind kRowKind>
class GraphBias : public BiasGradients<T, kRowKind> {
  using Base = BiasGradients<T, kRowKind>;
  using Base::head_;
  using Base::heads_;

 public:
  static constexpr bool kOfQueries = kRowKind == RowKind::kQuery;

  // For every pair, through top and through partner: X_R w_mul and X_R w_add, and after `collect` the gradients that
  // edges get from them. Rows are padded by one number, so that threads that read a column use all banks.
  template <int Rows, int Columns>
  struct Tiles {
    T mul[2][Rows][Columns + 1], add[2][Rows][Columns + 1];
    T weight[kOfQueries ? Columns : Rows];
    StagedBiases<T> staged;
  };
  struct RowSums {
    T weight;
  };
  using ThreadSums = typename Base::ThreadSums;

  GEOSFT_DEVICE GraphBias(const GraphArrays<T>& in, const AttentionArrays<T>& p, const TileSpan& span, int64_t head)
      : Base{{}, p.heads, head, in.bias_grad},
        in_(in),
        nodes_(p.queries.rows),
        row_begin_(span.rows.begin),
        row_end_(span.rows.end),
        b_mul_(in.b_mul.read(head)),
        b_add_(in.b_add.read(head)),
        alone_(softplus_with_slope(b_mul_)) {}

  template <class Memory>
  GEOSFT_DEVICE void load_row_inputs(Memory& memory, int64_t begin, int count, int thread) const {
    if constexpr (!kOfQueries) load_weights(memory.weight, begin, count, thread);
  }
  template <class Memory>
  GEOSFT_DEVICE void load_column_inputs(Memory& memory, int64_t begin, int count, int thread) const {
    if constexpr (kOfQueries) load_weights(memory.weight, begin, count, thread);
  }

  // Each thread sums the edges of one query: that of its row, or that of the column with the thread's index.
  template <class Block, class Memory>
  GEOSFT_DEVICE void prepare(Block& block, Memory& memory, int64_t first, int count) const {
    block.each([&](int thread) {
      clear(memory, thread);
      visit_query_edges(first, count, thread, [&](int64_t edge, int row, int column, int which) {
        memory.mul[which][row][column] += in_.mul[edge * heads_ + head_];
        memory.add[which][row][column] += in_.add[edge * heads_ + head_];
      });
    });
  }

  template <class Memory>
  GEOSFT_DEVICE BiasValue<T> value(const Memory& memory, const Pair& pair) const {
    const Members at = members(memory, pair);
    if (!at.touched) return {alone_.value, b_add_, alone_.slope};
    return {at.share * at.top.value + (T(1) - at.share) * at.partner.value,
            b_add_ + (at.share * at.add[0] + (T(1) - at.share) * at.add[1]),
            at.share * at.top.slope + (T(1) - at.share) * at.partner.slope};
  }

  template <class Memory>
  GEOSFT_DEVICE void collect(Memory& memory, const Pair& pair, const BiasValue<T>& value, T score, T raw, RowSums& row,
                             ThreadSums& sums) const {
    const Members at = members(memory, pair);
    const T to_mul = score * raw;
    if constexpr (kOfQueries) {
      sums.mul += to_mul * value.slope;
      sums.add += score;
      memory.mul[0][pair.row][pair.column] = to_mul * at.share * at.top.slope;
      memory.mul[1][pair.row][pair.column] = to_mul * (T(1) - at.share) * at.partner.slope;
      memory.add[0][pair.row][pair.column] = score * at.share;
      memory.add[1][pair.row][pair.column] = score * (T(1) - at.share);
    } else if (at.touched) {
      row.weight += to_mul * (at.top.value - at.partner.value) + score * (at.add[0] - at.add[1]);
    }
  }

  // Adds to every edge the gradients of the sums it is part of. An edge belongs to one query, and so to one thread.
  template <class Block, class Memory, class Sums>
  GEOSFT_DEVICE void conclude(Block& block, Memory& memory, int64_t first, int count, const Sums&) const {
    if constexpr (kOfQueries) {
      block.each([&](int thread) {
        visit_query_edges(first, count, thread, [&](int64_t edge, int row, int column, int which) {
          in_.mul_grad[edge * heads_ + head_] += memory.mul[which][row][column];
          in_.add_grad[edge * heads_ + head_] += memory.add[which][row][column];
        });
      });
    }
  }

  GEOSFT_DEVICE void store(int64_t row, const RowSums& sums) const {
    if constexpr (!kOfQueries) in_.weight_grad[row * heads_ + head_] = sums.weight;
  }

 private:
  // Contributions to a pair through the two nodes of its key; share is the weight of the top.
  struct Members {
    bool touched;
    T share;
    Softplus<T> top, partner;
    T add[2];
  };

  template <int Count>
  GEOSFT_DEVICE void load_weights(T (&weight)[Count], int64_t begin, int count, int thread) const {
    for (int i = thread; i < Count; i += kThreads) weight[i] = i < count ? in_.weight.read(begin + i) : T(0);
  }

  // Queries are rows of the tile or, in tiles of keys, its columns: each thread writes only those of its query.
  template <int Rows, int Columns>
  GEOSFT_DEVICE static void clear(Tiles<Rows, Columns>& memory, int thread) {
    constexpr int kQueries = kOfQueries ? Rows : Columns, kKeys = kOfQueries ? Columns : Rows;
    static_assert(kQueries <= kThreads, "a thread a query");
    if (thread >= kQueries) return;
    for (int i = 0; i < kKeys; ++i) {
      const int row = kOfQueries ? thread : i, column = kOfQueries ? i : thread;
      for (int which = 0; which < 2; ++which) memory.mul[which][row][column] = memory.add[which][row][column] = 0;
    }
  }

  // Calls visit(edge, row, column, which) for the edges from the thread's query to the nodes of the current keys.
  template <class Visit>
  GEOSFT_DEVICE void visit_query_edges(int64_t first, int count, int thread, const Visit& visit) const {
    if constexpr (kOfQueries) {
      if (row_begin_ + thread >= row_end_) return;
      visit_edges(row_begin_ + thread, first, first + count,
                  [&](int64_t edge, int key, int which) { visit(edge, thread, key, which); });
    } else {
      if (thread >= count) return;
      visit_edges(first + thread, row_begin_, row_end_,
                  [&](int64_t edge, int key, int which) { visit(edge, key, thread, which); });
    }
  }

  // Ignores indices that point outside the arrays.
  template <class Visit>
  GEOSFT_DEVICE void visit_edges(int64_t query, int64_t keys_begin, int64_t keys_end, const Visit& visit) const {
    const int64_t begin = clamped(in_.rowptr[query], 0, in_.edges), end = clamped(in_.rowptr[query + 1], 0, in_.edges);
    for (int64_t edge = begin; edge < end; ++edge) {
      const int64_t node = in_.col[edge];
      if (node < 0 || node >= nodes_) continue;
      for (int64_t at = in_.node_ptr[node]; at < in_.node_ptr[node + 1]; ++at) {
        const int64_t key = in_.node_keys[at] / 2;
        if (key >= keys_begin && key < keys_end) {
          visit(edge, static_cast<int>(key - keys_begin), static_cast<int>(in_.node_keys[at] % 2));
        }
      }
    }
  }

  // A pair is touched if one of the sums is not 0: if all are 0, its bias is that of a pair without an edge.
  template <class Memory>
  GEOSFT_DEVICE Members members(const Memory& memory, const Pair& pair) const {
    const T mul[2] = {memory.mul[0][pair.row][pair.column], memory.mul[1][pair.row][pair.column]};
    Members at{false,
               memory.weight[kOfQueries ? pair.column : pair.row],
               alone_,
               alone_,
               {memory.add[0][pair.row][pair.column], memory.add[1][pair.row][pair.column]}};
    at.touched = mul[0] != 0 || mul[1] != 0 || at.add[0] != 0 || at.add[1] != 0;
    if (mul[0] != 0) at.top = softplus_with_slope(b_mul_ + mul[0]);
    if (mul[1] != 0) at.partner = softplus_with_slope(b_mul_ + mul[1]);
    return at;
  }

  const GraphArrays<T>& in_;
  int64_t nodes_, row_begin_, row_end_;
  T b_mul_, b_add_;
  Softplus<T> alone_;
};

// The sums of the pairs of several rows would not fit in shared memory.
using GraphBiasTraits = BiasTypes<GraphArrays, GraphBias, false>;

#if !defined(__CUDACC__)
// Provides the attention bias of graph_attention from tensors: edges, sampled nodes and weights. One matrix product
// computes the contributions of the edges to X_R w for all heads; sorting finds the keys of each node.
class GraphOperator : public BiasOperator<GraphInputs, GraphBiasTraits> {
 public:
  GraphOperator(const Inputs& in, const AttentionArguments& arguments)
      : rowptr_(contiguous(in.rowptr())),
        col_(contiguous(in.col())),
        edge_attr_(opmath_contiguous(in.edge_attr())),
        weight_(contiguous(in.weight())),
        w_mul_(opmath_contiguous(in.w_mul())),
        b_mul_(contiguous(in.b_mul())),
        w_add_(opmath_contiguous(in.w_add())),
        b_add_(contiguous(in.b_add())),
        mul_(at::mm(edge_attr_, w_mul_)),
        add_(at::mm(edge_attr_, w_add_)) {
    const auto [nodes, order] = at::stack({in.top(), in.partner()}, 1).flatten().sort(/*stable=*/true, 0, false);
    node_keys_ = order;
    node_ptr_ = at::searchsorted(nodes, at::arange(arguments.q.size(0) + 1, rowptr_.options()));
  }

  template <typename T>
  GraphArrays<T> arrays() const {
    GraphArrays<T> arrays{};
    arrays.rowptr = pointer<int64_t>(rowptr_);
    arrays.col = pointer<int64_t>(col_);
    arrays.edges = col_.size(0);
    arrays.node_ptr = pointer<int64_t>(node_ptr_);
    arrays.node_keys = pointer<int64_t>(node_keys_);
    arrays.weight = stored<T>(weight_);
    arrays.mul = pointer<T>(mul_);
    arrays.add = pointer<T>(add_);
    arrays.b_mul = stored<T>(b_mul_);
    arrays.b_add = stored<T>(b_add_);
    return arrays;
  }

  template <typename T>
  void begin_gradients(const AttentionArrays<T>& problem, const OutputMask& output_mask, GraphArrays<T>& arrays) {
    edges_need_grad_ = output_mask.bias_input(2);
    mul_grad_ = at::zeros_like(mul_);
    add_grad_ = at::zeros_like(add_);
    weight_grad_ = at::empty({weight_.size(0), problem.heads}, edge_attr_.options());
    bias_grad_ = at::zeros({gradient_blocks<GraphBiasTraits>(problem), problem.heads, 2}, edge_attr_.options());
    arrays.mul_grad = target<T>(mul_grad_);
    arrays.add_grad = target<T>(add_grad_);
    arrays.weight_grad = target<T>(weight_grad_);
    arrays.bias_grad = target<T>(bias_grad_);
  }

  std::vector<at::Tensor> gradients() const {
    const at::Tensor biases = bias_grad_.sum(0), attributes = edge_attr_.t();
    return {edges_need_grad_ ? at::mm(mul_grad_, w_mul_.t()) + at::mm(add_grad_, w_add_.t())
                             : at::empty({0}, mul_.options()),
            weight_grad_.sum(1),
            at::mm(attributes, mul_grad_),
            biases.select(1, 0).contiguous(),
            at::mm(attributes, add_grad_),
            biases.select(1, 1).contiguous()};
  }

 private:
  at::Tensor rowptr_, col_, edge_attr_, weight_, w_mul_, b_mul_, w_add_, b_add_;
  at::Tensor mul_, add_;             // [E, heads]
  at::Tensor node_keys_, node_ptr_;  // keys that contain each node, as in GraphArrays
  at::Tensor mul_grad_, add_grad_, weight_grad_, bias_grad_;
  bool edges_need_grad_ = true;
};
#endif

}  // namespace geosft::cuda
