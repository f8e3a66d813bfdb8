// SPDX-License-Identifier: Apache-2.0
// Chooses the tile size of a call among the compiled ones. It depends only on the sizes of the call, so that results
// have the same bits on every device.
#pragma once

#include <cstdint>

#include "models/ops/cuda/attention_arrays.h"

namespace geosft::cuda {

// A tile for heads of up to Width channels, with Rows own rows per thread.
template <int Width, int Rows>
struct TileSize {
  static constexpr int kWidth = Width, kRows = Rows;
};

inline constexpr int64_t kMaxRows = 4;

// With several rows per thread, each number of the other side is read from shared memory once for all of them, but a
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
template <typename T, bool kMany, class Body>
void with_forward_size(int64_t width, bool many, const Body& body) {
  if constexpr (sizeof(T) == 8) {
    if (width <= 16) return body(TileSize<16, 1>());
    body(TileSize<kMaxWidth, 1>());
  } else {
    if (width <= 8) return with_rows<kMany, 8, 4>(many, body);
    if (width <= 16) return with_rows<kMany, 16, 4>(many, body);
    if (width <= 32) return with_rows<kMany, 32, 4>(many, body);
    if (width <= 64) return with_rows<kMany, 64, 2>(many, body);
    body(TileSize<kMaxWidth, 1>());
  }
}

template <typename T, bool kMany, class Body>
void with_backward_size(int64_t width, bool many, const Body& body) {
  if constexpr (sizeof(T) == 8) {
    if (width <= 16) return body(TileSize<16, 1>());
    body(TileSize<kMaxWidth, 1>());
  } else {
    if (width <= 8) return with_rows<kMany, 8, 4>(many, body);
    if (width <= 16) return with_rows<kMany, 16, 4>(many, body);
    if (width <= 32) return with_rows<kMany, 32, 2>(many, body);
    if (width <= 64) return body(TileSize<64, 1>());
    body(TileSize<kMaxWidth, 1>());
  }
}

// Number of query tiles in the backward pass, which is the number of partial accumulators of the weight gradients.
template <class BiasTraits, typename T>
int64_t gradient_slots(const AttentionArrays<T>& p) {
  int64_t slots = 0;
  with_backward_size<T, BiasTraits::kManyRows>(widest(p.c, p.cv), p.many_queries, [&](auto size) {
    slots = tile_slots(p.queries.rows, p.queries.items, decltype(size)::kRows * kThreads);
  });
  return slots;
}

}  // namespace geosft::cuda
