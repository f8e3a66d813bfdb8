// SPDX-License-Identifier: Apache-2.0
// Samples farthest points on a GPU, one block per cloud. Each thread keeps the points thread, thread + 512, … and their
// squared distances to the rows chosen so far in registers. A round is one pass over them, and two barriers to find the
// largest distance. Larger clouds read and write points and distances in global memory.
//
// Bound by latency: a round is a chain of dependent steps, about 600 clocks for 10,000 points (20 points per thread of
// about 12 instructions, 4 warps per scheduler; 16 and 32 comparisons of the reduction; two barriers). So 1,024 rounds
// take 0.35 ms, for up to 132 clouds.
#pragma once

#include <cmath>

#include "geometry/cuda/block.h"
#include "geometry/cuda/packed_tiles.h"
#include "geometry/cuda/squared_length.h"

namespace geosft::cuda {

// points [rows, 3]. chosen [total]: rows out_ptr[b] … out_ptr[b + 1] - 1 belong to item b, at most m of them; the first
// is `start`, or the row farthest from the centroid of the item. distance [rows] is used for clouds that do not fit in
// registers.
template <typename T>
struct FarthestPoints {
  static constexpr int64_t kOutermost = -1;
  const T* points;
  PackedRows packed;
  int64_t m, start, total;
  const int64_t* out_ptr;
  T* distance;
  int64_t* chosen;
};

template <typename T>
class FarthestPointKernel {
 public:
  static constexpr int kBlockThreads = 512;
  static constexpr int kGroups = 32;                     // groups of threads in a reduction
  static constexpr int kKept = sizeof(T) == 4 ? 20 : 8;  // points per thread in registers: 80 and 64 of 128 registers

  // The row with the largest distance, the lowest index among equals. Chosen rows have distance -1.
  template <typename Distance>
  struct FarthestBy {
    Distance distance;
    int64_t row;
  };
  using Farthest = FarthestBy<T>;
  struct Tiles {
    Farthest of_thread[kBlockThreads];
    Farthest of_group[kGroups];
    double centroid[3];
    FarthestBy<double> outermost[kBlockThreads];
  };
  using Arguments = FarthestPoints<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const int64_t item = block.x();
    const RowRange rows = item_rows(in.packed, item);
    const int64_t count = rows.end - rows.begin;
    const int64_t out = clamped(in.out_ptr[item], 0, in.total);
    const int64_t samples = clamped(in.out_ptr[item + 1], out, in.total) - out;
    if (count == 0) return;
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    const bool kept = count <= int64_t{kKept} * kBlockThreads;
    block.each(
        [&](int thread) { kept ? begin_kept(in, rows, thread, state[thread]) : begin_stored(in, rows, thread); });
    int64_t last = in.start < count ? in.start : count - 1;
    if (in.start == Arguments::kOutermost) last = outermost_row(block, tiles, in, rows);
    for (int64_t i = 0; i < samples; ++i) {
      block.each([&](int thread) {
        if (thread == 0) in.chosen[out + i] = rows.begin + last;
        tiles.of_thread[thread] =
            kept ? advance_kept(in, rows, last, thread, state[thread]) : advance_stored(in, rows, last, thread);
      });
      block.each([&](int thread) {
        if (thread < kGroups) tiles.of_group[thread] = farthest<kBlockThreads / kGroups>(tiles.of_thread, thread);
      });
      last = farthest<kGroups>(tiles.of_group, 0).row;
    }
  }

 private:
  struct State {
    T point[kKept][3], distance[kKept];
  };

  GEOSFT_DEVICE static T infinity() { return T(INFINITY); }

  // Returns the row farthest from the centroid. One thread sums each coordinate, in the same order as on the CPU.
  template <class Block>
  GEOSFT_DEVICE static int64_t outermost_row(Block& block, Tiles& tiles, const Arguments& in, const RowRange& rows) {
    const int64_t count = rows.end - rows.begin;
    block.each([&](int thread) {
      if (thread >= 3) return;
      double sum = 0;
      for (int64_t row = rows.begin; row < rows.end; ++row) sum += double(in.points[row * 3 + thread]) / double(count);
      tiles.centroid[thread] = sum;
    });
    block.each([&](int thread) {
      FarthestBy<double> best{-1, 0};
      for (int64_t row = thread; row < count; row += kBlockThreads) {
        const T* at = in.points + (rows.begin + row) * 3;
        const double distance = squared_length(double(at[0]) - tiles.centroid[0], double(at[1]) - tiles.centroid[1],
                                               double(at[2]) - tiles.centroid[2]);
        if (distance > best.distance) best = {distance, row};
      }
      tiles.outermost[thread] = best;
    });
    return farthest<kBlockThreads>(tiles.outermost, 0).row;
  }

  GEOSFT_DEVICE static void begin_kept(const Arguments& in, const RowRange& rows, int thread, State& state) {
    GEOSFT_UNROLL
    for (int p = 0; p < kKept; ++p) {
      const int64_t row = rows.begin + thread + int64_t{p} * kBlockThreads;
      const bool there = row < rows.end;
      state.distance[p] = there ? infinity() : T(-2);
      GEOSFT_UNROLL
      for (int a = 0; a < 3; ++a) state.point[p][a] = there ? in.points[row * 3 + a] : T(0);
    }
  }
  GEOSFT_DEVICE static void begin_stored(const Arguments& in, const RowRange& rows, int thread) {
    for (int64_t row = rows.begin + thread; row < rows.end; row += kBlockThreads) in.distance[row] = infinity();
  }

  // Updates the distances after row `last` was chosen; returns the farthest of the rows of this thread.
  GEOSFT_DEVICE static Farthest advance_kept(const Arguments& in, const RowRange& rows, int64_t last, int thread,
                                             State& state) {
    const T* at = in.points + (rows.begin + last) * 3;
    const T x = at[0], y = at[1], z = at[2];
    Farthest best{T(-2), 0};
    GEOSFT_UNROLL
    for (int p = 0; p < kKept; ++p) {
      const int64_t row = thread + int64_t{p} * kBlockThreads;
      const T(&point)[3] = state.point[p];
      state.distance[p] =
          nearer(state.distance[p], squared_length(point[0] - x, point[1] - y, point[2] - z), row == last);
      if (state.distance[p] > best.distance) best = {state.distance[p], row};
    }
    return best;
  }
  GEOSFT_DEVICE static Farthest advance_stored(const Arguments& in, const RowRange& rows, int64_t last, int thread) {
    const T* at = in.points + (rows.begin + last) * 3;
    const T x = at[0], y = at[1], z = at[2];
    Farthest best{T(-2), 0};
    for (int64_t row = thread; row < rows.end - rows.begin; row += kBlockThreads) {
      const T* point = in.points + (rows.begin + row) * 3;
      T& distance = in.distance[rows.begin + row];
      distance = nearer(distance, squared_length(point[0] - x, point[1] - y, point[2] - z), row == last);
      if (distance > best.distance) best = {distance, row};
    }
    return best;
  }

  GEOSFT_DEVICE static T nearer(T before, T now, bool chosen) { return chosen ? T(-1) : (now < before ? now : before); }

  // Returns the farthest of the kCount entries of `all` from group * kCount.
  template <int kCount, int kAll, typename Distance>
  GEOSFT_DEVICE static FarthestBy<Distance> farthest(const FarthestBy<Distance> (&all)[kAll], int group) {
    FarthestBy<Distance> best = all[group * kCount];
    for (int i = 1; i < kCount; ++i) {
      const FarthestBy<Distance> other = all[group * kCount + i];
      if (other.distance > best.distance || (other.distance == best.distance && other.row < best.row)) best = other;
    }
    return best;
  }
};

// Lists the grids of a call, on a GPU or emulated.
template <typename T, class Run>
void run_grids(const FarthestPoints<T>& in, Run&& run) {
  run.template grid<FarthestPointKernel<T>>(in.packed.items, 1, in);
}

}  // namespace geosft::cuda
