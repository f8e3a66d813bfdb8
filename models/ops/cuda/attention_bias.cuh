// SPDX-License-Identifier: Apache-2.0
// Defines the arrays and the tile sizes of the attention kernels, and the interface between them and an attention bias.
// Arrays are contiguous and checked. T is the type that kernels compute in; inputs and results of operators may be
// stored in a half type. A bias is a class template over the number type and the kind of rows, with the members of
// DenseBias (dense_bias.cuh) and PointBias (point_bias.cuh). A bias may run block-wide steps: in `prepare`, after the
// columns have been loaded into shared memory, and in `conclude`, after their gradients have been computed. See
// GraphBias and SequenceBias. CMake instantiates the kernels and registers the operator for each file <name>_bias.cuh,
// which defines <Name>BiasTraits for the kernels and, beside them, <Name>Operator for the host.
#pragma once

#include <cstdint>

#include "geometry/cuda/packed_tiles.h"
#include "models/ops/cuda/accessor.h"
#include "models/ops/cuda/tile_math.h"

namespace geosft::cuda {

// Threads per block: two warps, so that items of a few hundred keys or queries still fill blocks.
inline constexpr int kThreads = 64;
// Maximum channels per head that the kernels hold in registers and shared memory.
inline constexpr int64_t kMaxWidth = 128;

// q [Nq, heads, c], k [Nk, heads, c], v [Nk, heads, cv], leak [Nk, heads]; scale = 1 / sqrt(c). many_queries and
// many_keys choose tiles with several rows per thread: see worth_many_rows.
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

// Arguments of a launch of the forward or the backward kernels: see launch_kernels.
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

// A tile computes the results of its rows, one or more per thread, from all columns of their item. Rows are queries and
// columns keys in the forward pass and for query gradients; rows are keys and columns queries for key gradients.
enum class RowKind { kQuery, kKey };

// The rows of a tile, and the columns of their item.
struct TileSpan {
  PackedTile rows;
  RowRange columns;

  GEOSFT_DEVICE int row_count() const { return static_cast<int>(rows.end - rows.begin); }
};

template <RowKind kRowKind, typename T>
GEOSFT_DEVICE TileSpan tile_span(const AttentionArrays<T>& p, int64_t tile, int64_t block) {
  const PackedTile rows = packed_tile(kRowKind == RowKind::kQuery ? p.queries : p.keys, tile, block);
  return {rows, item_rows(kRowKind == RowKind::kQuery ? p.keys : p.queries, rows.item)};
}

// A pair of a row and a column: `row` counts from the tile's first row, `column` from the first of the columns that are
// in shared memory, which is column `column_begin` of the batch. A pair that is not `inside` has a row or a column past
// the end and contributes nothing.
struct Pair {
  int row, column;
  int64_t column_begin;
  bool inside;
};

// The bias of a pair: its score is multiplied by mul, and add is added. slope is the derivative of the softplus
// that gives mul, if mul is computed by one.
template <typename T>
struct BiasValue {
  T mul, add, slope;
};

// Names the arrays and the device type of a bias whose gradients take one backward pass per kind of rows; see with_rows
// for kMany.
template <template <typename> class ArraysOf, template <typename, RowKind> class BiasOf, bool kMany>
struct BiasTypes {
  template <typename T>
  using Arrays = ArraysOf<T>;
  template <typename T, RowKind kRowKind>
  using Bias = BiasOf<T, kRowKind>;
  static constexpr bool kManyRows = kMany;

  // Calls body(types) with the types of the kernels for these arrays, which are Traits itself. A bias that has several
  // kinds of kernels hides this function; they have the same kManyRows.
  template <class Traits, typename T, class Body>
  static void choose(const Arrays<T>&, const Body& body) {
    body(Traits());
  }

  // Calls body(arrays) once for each pass.
  template <RowKind kRowKind, class Pass, class Body>
  static void each_pass(const Pass& arrays, const Body& body) {
    body(arrays);
  }
};

// The base of a kernel of attention, for tiles of Rows x kThreads rows and one head. Kernel has
//   kColumns                    columns in shared memory
//   Tiles, State                the shared memory, and what a thread keeps
//   compute(block, arguments, span, head, bias, tiles, state)
//                               called for blocks with rows
template <class Kernel, typename T, class BiasTraits, RowKind kTileRowKind, int Width, int Rows, class Targets>
struct AttentionKernel {
  using Bias = typename BiasTraits::template Bias<T, kTileRowKind>;
  static constexpr int kBlockThreads = kThreads;
  static constexpr int kTile = Rows * kThreads;
  static constexpr int kChunks = Width / 4;

  struct Arguments {
    AttentionArrays<T> problem;
    typename BiasTraits::template Arrays<T> bias;
    Targets to;
  };

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& arguments) {
    const AttentionArrays<T>& p = arguments.problem;
    const TileSpan span = tile_span<kTileRowKind>(p, kTile, block.x());
    if (span.rows.begin >= span.rows.end) return;
    auto& tiles = block.template shared<typename Kernel::Tiles>();
    typename Block::template PerThread<typename Kernel::State> state(block);
    const int64_t head = block.y();
    const Bias bias(arguments.bias, p, span, head);
    Kernel::compute(block, arguments, span, head, bias, tiles, state);
  }
};

// Loads rows `first` … `first + count - 1` of source [rows, stride], `width` numbers each from column `column` on, into
// a tile of whole Vec4. The rest is set to zeros, which add nothing to a sum of maxima or products. Loads are unrolled
// by two: more in flight would take registers from the sums.
template <typename T, int Rows, int Stride>
GEOSFT_DEVICE void load_rows(Vec4<T> (&tile)[Rows][Stride], int padded, const Accessor<const T>& source, int64_t first,
                             int count, int64_t stride, int64_t column, int width, int thread) {
  source.visit([&](const auto* numbers) {
    GEOSFT_UNROLL_TWO
    for (int i = thread; i < Rows * padded; i += kThreads) {
      const int row = i / padded, channel = i % padded;
      const bool there = row < count && channel < width;
      tile[row][channel / 4].v[channel % 4] =
          there ? widened(numbers[(first + row) * stride + column + channel]) : T(0);
    }
  });
}

// Writes a thread's row, times `factor`, to elements `first` … `first + width - 1`.
template <typename T, int Chunks>
GEOSFT_DEVICE void store_row(const Vec4<T> (&row)[Chunks], T factor, const Accessor<T>& to, int64_t first, int width) {
  to.visit([&](auto* numbers) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < Chunks; ++chunk) {
      GEOSFT_UNROLL
      for (int t = 0; t < 4; ++t) {
        if (chunk * 4 + t < width) round_to(numbers[first + chunk * 4 + t], row[chunk].v[t] * factor);
      }
    }
  });
}

// The steps of a bias that it may leave out: a bias inherits them, and hides those that it has.
struct BiasSteps {
  template <class Memory>
  GEOSFT_DEVICE void load_row_inputs(Memory&, int64_t /*begin*/, int /*count*/, int /*thread*/) const {}
  template <class Memory>
  GEOSFT_DEVICE void load_column_inputs(Memory&, int64_t /*begin*/, int /*count*/, int /*thread*/) const {}
  template <class Block, class Memory>
  GEOSFT_DEVICE void prepare(Block&, Memory&, int64_t /*first*/, int /*count*/) const {}
  template <class Block, class Memory, class Sums>
  GEOSFT_DEVICE void conclude(Block&, Memory&, int64_t /*first*/, int /*count*/, const Sums&) const {}
  template <class RowSums>
  GEOSFT_DEVICE void store(int64_t /*row*/, const RowSums&) const {}
  template <class Memory, class ThreadSums>
  GEOSFT_DEVICE void stage(Memory&, const ThreadSums&, int /*thread*/) const {}
  template <class Memory>
  GEOSFT_DEVICE void finish(const Memory&, int64_t /*block*/, int /*thread*/) const {}
};

// The weights [channels, heads] and biases [heads] of a relative encoding.
template <typename T>
struct RelativeWeights {
  Accessor<const T> w_mul, b_mul, w_add, b_add;
};

template <typename T>
using StagedBiases = T[kThreads][2];

// Computes the gradients of b_mul and b_add of a relative encoding, whose Tiles have StagedBiases `staged`: each
// thread's sums over its pairs, reduced over the block. The threads' sums are added in thread order, so results are
// bitwise reproducible.
template <typename T, RowKind kRowKind>
struct BiasGradients : BiasSteps {
  struct ThreadSums {
    T mul, add;
  };

  template <class Memory>
  GEOSFT_DEVICE void stage(Memory& memory, const ThreadSums& sums, int thread) const {
    memory.staged[thread][0] = sums.mul;
    memory.staged[thread][1] = sums.add;
  }
  template <class Memory>
  GEOSFT_DEVICE void finish(const Memory& memory, int64_t block, int thread) const {
    if (kRowKind != RowKind::kQuery || thread >= 2) return;
    T sum = 0;
    for (int t = 0; t < kThreads; ++t) sum += memory.staged[t][thread];
    bias_grad_[(block * heads_ + head_) * 2 + thread] = sum;
  }

  int64_t heads_, head_;
  T* bias_grad_;  // [blocks, heads, 2]
};

// A tile for heads of up to Width channels, with Rows rows per thread.
template <int Width, int Rows>
struct TileSize {
  static constexpr int kWidth = Width, kRows = Rows;
};

inline constexpr int64_t kMaxRows = 4;

// If a thread has several rows, each number of a column is read from shared memory once for all of them, but a
// tile is kThreads times as many rows. This pays if items fill half of such tiles and every multiprocessor gets its
// blocks.
inline bool worth_many_rows(int64_t rows, int64_t items, int64_t heads) {
  constexpr int64_t kTile = kMaxRows * kThreads, kMultiprocessors = 132, kBlocksEach = 2;
  return 2 * rows >= items * kTile && rows / kTile * heads >= kMultiprocessors * kBlocksEach;
}

inline int64_t widest(int64_t c, int64_t cv) {
  return c > cv ? c : cv;
}

template <bool kMany, int Width, int Rows, class Body>
void with_rows(bool many, const Body& body) {
  if constexpr (kMany) {
    if (many) return body(TileSize<Width, Rows>());
  }
  body(TileSize<(Width < 16 ? 16 : Width), 1>());
}

// Calls body(TileSize) for `width` = max(c, cv) channels. Double precision is for checks: one row per thread, and two
// widths. kMany: whether tiles of several rows per thread are compiled at all (BiasTraits::kManyRows). The register
// file limits the rows: a forward thread keeps Rows * Width sums, a backward one up to twice as many.
template <typename T, bool kMany, int kRowsOf32, int kRowsOf64, class Body>
void with_tile_size(int64_t width, bool many, const Body& body) {
  if constexpr (sizeof(T) == 8) {
    if (width <= 16) return body(TileSize<16, 1>());
    body(TileSize<kMaxWidth, 1>());
  } else {
    if (width <= 8) return with_rows<kMany, 8, 4>(many, body);
    if (width <= 16) return with_rows<kMany, 16, 4>(many, body);
    if (width <= 32) return with_rows<kMany, 32, kRowsOf32>(many, body);
    if (width <= 64) return with_rows<kMany, 64, kRowsOf64>(many, body);
    body(TileSize<kMaxWidth, 1>());
  }
}
template <typename T, bool kMany, class Body>
void with_forward_size(int64_t width, bool many, const Body& body) {
  with_tile_size<T, kMany, 4, 2>(width, many, body);
}
template <typename T, bool kMany, class Body>
void with_backward_size(int64_t width, bool many, const Body& body) {
  with_tile_size<T, kMany, 2, 1>(width, many, body);
}

// Returns the number of blocks of queries in the backward pass, which is the number of partial accumulators of the
// weight gradients.
template <class BiasTraits, typename T>
int64_t gradient_blocks(const AttentionArrays<T>& p) {
  int64_t blocks = 0;
  with_backward_size<T, BiasTraits::kManyRows>(widest(p.c, p.cv), p.many_queries, [&](auto size) {
    blocks = tile_blocks(p.queries.rows, p.queries.items, decltype(size)::kRows * kThreads);
  });
  return blocks;
}

}  // namespace geosft::cuda
