// SPDX-License-Identifier: Apache-2.0
// Samples the pairs of sample_pairs on a GPU. The rank of a row is the number of rows of its item that come before it,
// counted over tiles of keys in shared memory: no sort, no exchange between blocks, ties to the lowest row. Sampled
// rows are written directly to their place. In long items the rows that can be sampled are selected first
// (key_selection_kernel.cuh); if these are many, too, rows are sorted.
//
// Bound: issue slots, about 5 per pair of rows of an item (64-bit comparison, tie, addition): 32 items of 1,024 rows
// take 5 us. The cost is quadratic: one item of 100,000 rows would take 1.6 ms, where a selection takes 0.02 ms.
#pragma once

#include <cstring>

#include "geometry/cuda/element_kernel.cuh"
#include "geometry/cuda/packed_tiles.h"
#include "geometry/philox.h"
#include "models/ops/cuda/key_selection_kernel.cuh"

namespace geosft::cuda {

// The rows that are ranked: every row by its key (row null); selected rows by their keys, with unused places (row -1)
// last; or all rows already in rank order, item by item (key null).
struct RankedRows {
  PackedRows packed;
  const uint64_t* key;
  const int64_t* row;

  GEOSFT_DEVICE int64_t row_at(int64_t place) const { return row ? row[place] : place; }
};

// score [rows]. Working memory: noise [rows] is the noise added, key [rows] the keys of the noisy scores and random_key
// [rows] the keys by which random partners are sampled (kNoKey for rows in `top`). Results: top and partner [samples]
// and their noise, noise_top and noise_partner [samples]; those of item b begin at out_ptr[b]. A call runs its phases
// in turn; `phase` is the current one. It ranks `ranked`, after `selection`, if that has places.
enum class PairPhase { kKeys, kTop, kPartner, kReplacement };
template <typename T>
struct PairSampling {
  const T* score;
  PackedRows packed;
  const int64_t* seeds;
  bool noisy, random_partner;
  const int64_t* out_ptr;
  int64_t samples;
  T* noise;
  uint64_t* key;
  uint64_t* random_key;
  int64_t* top;
  int64_t* partner;
  T* noise_top;
  T* noise_partner;
  PairPhase phase;
  KeySelection selection;
  RankedRows ranked;
};

inline constexpr int kRankThreads = 256;
inline constexpr uint64_t kNoKey = ~uint64_t{0};

// Returns a key that is smaller the larger x is. Every x has a key, including NaN: ranks always belong to distinct
// rows.
GEOSFT_DEVICE uint64_t descending_key(float x) {
  const float positive_zero = x + 0.0f;
  uint32_t bits;
  memcpy(&bits, &positive_zero, sizeof(bits));
  return static_cast<uint32_t>(~(bits >> 31 ? ~bits : bits | 0x80000000u));
}
GEOSFT_DEVICE uint64_t descending_key(double x) {
  const double positive_zero = x + 0.0;
  uint64_t bits;
  memcpy(&bits, &positive_zero, sizeof(bits));
  const uint64_t key = ~(bits >> 63 ? ~bits : bits | uint64_t{1} << 63);
  return key == kNoKey ? key - 1 : key;
}

// Returns the range of the samples of an item.
template <typename T>
GEOSFT_DEVICE RowRange item_samples(const PairSampling<T>& in, int64_t item) {
  const int64_t begin = clamped(in.out_ptr[item], 0, in.samples);
  return {begin, clamped(in.out_ptr[item + 1], begin, in.samples)};
}

GEOSFT_DEVICE uint64_t partner_key(uint64_t seed, int64_t row) {
  const uint64_t random = philox(seed, static_cast<uint64_t>(row), 0).second();
  return random == kNoKey ? random - 1 : random;
}

// Computes noise and keys, one row per thread.
template <typename T>
struct PairKeyKernel : UnsharedKernel<PairSampling<T>, kRankThreads> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PairSampling<T>& in) {
    const PackedTile rows = packed_tile(in.packed, PairKeyKernel::kBlockThreads, block.x());
    block.each([&](int thread) {
      const int64_t row = rows.begin + thread;
      if (row >= rows.end) return;
      const uint64_t seed = static_cast<uint64_t>(in.seeds[rows.item]);
      const int64_t place = row - rows.item_begin;
      const T added = in.noisy ? static_cast<T>(gumbel(philox(seed, static_cast<uint64_t>(place), 0).first())) : T(0);
      in.noise[row] = added;
      in.key[row] = descending_key(in.score[row] + added);
      if (in.random_partner) in.random_key[row] = partner_key(seed, place);
    });
  }
};

// Stores a row of a given rank as a top, as a partner, or not at all.
template <typename T, bool kPartners>
class PairPlaces {
 public:
  using Arguments = PairSampling<T>;

  // `row` is -1 for an unused place.
  GEOSFT_DEVICE static void put(const Arguments& in, int64_t item, int64_t row, int64_t rank) {
    if (row < 0) return;
    const RowRange all = item_rows(in.packed, item), samples = item_samples(in, item);
    const int64_t count = samples.end - samples.begin;
    if constexpr (kPartners) {
      if (in.random_key[row] != kNoKey && rank < count) put_partner(in, samples.begin + rank, row);
    } else {
      choose(in, all, row, rank, samples.begin, count);
    }
  }

 private:
  // Stores `row` as a top or, unless partners are sampled at random, as the partner of its rank.
  GEOSFT_DEVICE static void choose(const Arguments& in, const RowRange& all, int64_t row, int64_t rank, int64_t out,
                                   int64_t count) {
    if (rank < count) {
      in.top[out + rank] = row;
      in.noise_top[out + rank] = in.noise[row];
      if (in.random_partner) in.random_key[row] = kNoKey;
      if (all.end - all.begin == 1) put_partner(in, out, row);  // a single row is its own partner
    } else if (!in.random_partner && rank < 2 * count) {
      put_partner(in, out + rank - count, row);
    }
  }

  GEOSFT_DEVICE static void put_partner(const Arguments& in, int64_t sample, int64_t row) {
    in.partner[sample] = row;
    in.noise_partner[sample] = in.noise[row];
  }
};

// Ranks rows by the keys of `ranked` and stores those that are sampled.
template <typename T, bool kPartners>
class PairRankKernel {
 public:
  static constexpr int kBlockThreads = kRankThreads;
  struct Tiles {
    uint64_t key[kBlockThreads];
  };
  using Arguments = PairSampling<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const RankedRows& ranked = in.ranked;
    const PackedTile places = packed_tile(ranked.packed, kBlockThreads, block.x());
    if (places.begin >= places.end) return;
    const RowRange all = item_rows(ranked.packed, places.item);
    Tiles& tiles = block.template shared<Tiles>();
    typename Block::template PerThread<State> state(block);
    block.each([&](int thread) {
      const int64_t place = places.begin + thread;
      state[thread] = {place < places.end ? ranked.key[place] : kNoKey, 0};
    });
    for (int64_t first = all.begin; first < all.end; first += kBlockThreads) {
      block.each(
          [&](int thread) { tiles.key[thread] = first + thread < all.end ? ranked.key[first + thread] : kNoKey; });
      block.each(
          [&](int thread) { state[thread].rank += before(tiles, state[thread].key, places.begin + thread - first); });
    }
    block.each([&](int thread) {
      const int64_t place = places.begin + thread;
      if (place >= places.end) return;
      PairPlaces<T, kPartners>::put(in, places.item, ranked.row_at(place), state[thread].rank);
    });
  }

 private:
  struct State {
    uint64_t key;
    int64_t rank;
  };

  // Counts the keys in shared memory that come before `key`, which is at `place` of them (or is not among them).
  GEOSFT_DEVICE static int before(const Tiles& tiles, uint64_t key, int64_t place) {
    int count = 0;
    for (int i = 0; i < kBlockThreads; ++i) count += tiles.key[i] < key || (tiles.key[i] == key && i < place) ? 1 : 0;
    return count;
  }
};

// Stores the sampled rows if ranks are places in a sorted order.
template <typename T, bool kPartners>
struct PairPlaceKernel : UnsharedKernel<PairSampling<T>, kRankThreads> {
  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const PairSampling<T>& in) {
    const PackedTile places = packed_tile(in.ranked.packed, PairPlaceKernel::kBlockThreads, block.x());
    const RowRange all = item_rows(in.packed, places.item);
    block.each([&](int thread) {
      const int64_t place = places.begin + thread;
      if (place >= places.end) return;
      const int64_t row = clamped(in.ranked.row_at(place), all.begin, all.end - 1);
      PairPlaces<T, kPartners>::put(in, places.item, row, place - all.begin);
    });
  }
};

// Samples with replacement, one block per sample and member: argmax_i(score_i + Gumbel), ties to the lowest row.
template <typename T>
class PairReplacementKernel {
 public:
  static constexpr int kBlockThreads = kRankThreads;
  static constexpr int kGroups = 16;
  struct Best {
    T value, noise;
    int64_t row;  // of the item; -1: not set
  };
  struct Tiles {
    Best of_thread[kBlockThreads], of_group[kGroups];
  };
  using Arguments = PairSampling<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const int64_t sample = block.x(), member = block.y(), item = item_of_sample(in, sample);
    const RowRange rows = item_rows(in.packed, item);
    const uint64_t seed = static_cast<uint64_t>(in.seeds[item]);
    const uint64_t stream = static_cast<uint64_t>(1 + 2 * (sample - item_samples(in, item).begin) + member);
    Tiles& tiles = block.template shared<Tiles>();
    block.each([&](int thread) {
      Best best{T(0), T(0), -1};
      for (int64_t row = thread; row < rows.end - rows.begin; row += kBlockThreads) {
        const T noise = static_cast<T>(gumbel(philox(seed, static_cast<uint64_t>(row), stream).first()));
        best = better(best, {in.score[rows.begin + row] + noise, noise, row});
      }
      tiles.of_thread[thread] = best;
    });
    block.each([&](int thread) {
      if (thread >= kGroups) return;
      Best best = tiles.of_thread[thread * (kBlockThreads / kGroups)];
      for (int i = 1; i < kBlockThreads / kGroups; ++i) {
        best = better(best, tiles.of_thread[thread * (kBlockThreads / kGroups) + i]);
      }
      tiles.of_group[thread] = best;
    });
    block.each([&](int thread) {
      if (thread != 0) return;
      Best best = tiles.of_group[0];
      for (int i = 1; i < kGroups; ++i) best = better(best, tiles.of_group[i]);
      (member == 0 ? in.top : in.partner)[sample] = best.row < 0 ? 0 : rows.begin + best.row;  // -1: wrong offsets
      (member == 0 ? in.noise_top : in.noise_partner)[sample] = best.noise;
    });
  }

 private:
  GEOSFT_DEVICE static Best better(const Best& a, const Best& b) {
    if (b.row < 0) return a;
    if (a.row < 0 || b.value > a.value || (b.value == a.value && b.row < a.row)) return b;
    return a;
  }

  // Returns the last item whose samples begin at or before this one: items without samples begin where the next one
  // does.
  GEOSFT_DEVICE static int64_t item_of_sample(const Arguments& in, int64_t sample) {
    int64_t item = 0;
    for (int64_t end = in.packed.items; end - item > 1;) {
      const int64_t middle = item + (end - item) / 2;
      (in.out_ptr[middle] <= sample ? item : end) = middle;
    }
    return item;
  }
};

template <typename T, bool kPartners, class Run>
void rank_grids(const PairSampling<T>& in, Run&& run) {
  if (in.selection.places > 0) selection_grids(in.selection, run);
  const int64_t blocks = tile_blocks(in.ranked.packed.rows, in.ranked.packed.items, kRankThreads);
  if (in.ranked.key) {
    run.template grid<PairRankKernel<T, kPartners>>(blocks, 1, in);
  } else {
    run.template grid<PairPlaceKernel<T, kPartners>>(blocks, 1, in);
  }
}

template <typename T, class Run>
void run_grids(const PairSampling<T>& in, Run&& run) {
  const int64_t blocks = tile_blocks(in.packed.rows, in.packed.items, kRankThreads);
  if (in.phase == PairPhase::kReplacement) run.template grid<PairReplacementKernel<T>>(in.samples, 2, in);
  if (in.phase == PairPhase::kKeys) run.template grid<PairKeyKernel<T>>(blocks, 1, in);
  if (in.phase == PairPhase::kTop) rank_grids<T, false>(in, run);
  if (in.phase == PairPhase::kPartner) rank_grids<T, true>(in, run);
}

}  // namespace geosft::cuda
