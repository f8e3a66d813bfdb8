// SPDX-License-Identifier: Apache-2.0
// Selects the rows with the smallest random keys within one block, without sorting or communication between blocks.
// Finds the largest selected key bit by bit, by counting smaller keys.
//
// Bound by 64 rounds of two barriers and count / 256 comparisons per thread: about 30,000 clocks, 15 us, for 10,000
// keys.
#pragma once

#include "geometry/cuda/block.h"

namespace geosft::cuda {

template <int kBlockThreads>
class SmallestKeys {
 public:
  static constexpr int kGroups = 16;  // groups of threads in a sum
  struct Tiles {
    int64_t below[kBlockThreads], equal[kBlockThreads], of_group[kGroups];
  };

  // Calls take(place, rank) for the `k` places among 0 … count - 1 with the smallest keys; ties go to the lower
  // place; rank is the number of selected places before it. key_of(place) returns a key, and keys [count] is scratch
  // memory. If k >= count, all places are selected without calling key_of.
  template <class Block, class KeyOf, class Take>
  GEOSFT_DEVICE static void run(Block& block, Tiles& tiles, int64_t count, int64_t k, uint64_t* keys,
                                const KeyOf& key_of, const Take& take) {
    if (k >= count) {
      block.each([&](int thread) {
        for (int64_t i = thread; i < count; i += kBlockThreads) take(i, i);
      });
      return;
    }
    block.each([&](int thread) {
      for (int64_t i = thread; i < count; i += kBlockThreads) keys[i] = key_of(i);
    });
    const uint64_t last = largest_taken(block, tiles, count, k, keys);
    block.each([&](int thread) { count_part(tiles, count, keys, last, thread); });
    block.each([&](int thread) { take_part(tiles, count, k, keys, last, thread, take); });
  }

 private:
  // Returns the key of rank `k`: the largest number such that fewer than `k` keys are below it.
  template <class Block>
  GEOSFT_DEVICE static uint64_t largest_taken(Block& block, Tiles& tiles, int64_t count, int64_t k,
                                              const uint64_t* keys) {
    uint64_t found = 0;
    for (int bit = 63; bit >= 0; --bit) {
      const uint64_t tried = found | uint64_t{1} << bit;
      block.each([&](int thread) {
        int64_t below = 0;
        for (int64_t i = thread; i < count; i += kBlockThreads) below += keys[i] < tried ? 1 : 0;
        tiles.below[thread] = below;
      });
      block.each([&](int thread) {
        if (thread < kGroups) tiles.of_group[thread] = sum<kBlockThreads / kGroups>(tiles.below, thread);
      });
      if (sum<kGroups>(tiles.of_group, 0) < k) found = tried;
    }
    return found;
  }

  template <int kCount, int kAll>
  GEOSFT_DEVICE static int64_t sum(const int64_t (&all)[kAll], int group) {
    int64_t total = 0;
    for (int i = 0; i < kCount; ++i) total += all[group * kCount + i];
    return total;
  }

  // Each thread handles a contiguous range of places, so that ranks follow their order.
  GEOSFT_DEVICE static int64_t part_begin(int64_t count, int thread) {
    const int64_t begin = thread * ((count + kBlockThreads - 1) / kBlockThreads);
    return begin < count ? begin : count;
  }

  GEOSFT_DEVICE static void count_part(Tiles& tiles, int64_t count, const uint64_t* keys, uint64_t last, int thread) {
    int64_t below = 0, equal = 0;
    for (int64_t i = part_begin(count, thread); i < part_begin(count, thread + 1); ++i) {
      below += keys[i] < last ? 1 : 0;
      equal += keys[i] == last ? 1 : 0;
    }
    tiles.below[thread] = below;
    tiles.equal[thread] = equal;
  }

  template <class Take>
  GEOSFT_DEVICE static void take_part(const Tiles& tiles, int64_t count, int64_t k, const uint64_t* keys, uint64_t last,
                                      int thread, const Take& take) {
    int64_t below = 0, equal = 0, equals_taken = k;
    for (int t = 0; t < kBlockThreads; ++t) {
      equals_taken -= tiles.below[t];
      if (t >= thread) continue;
      below += tiles.below[t];
      equal += tiles.equal[t];
    }
    int64_t rank = below + (equal < equals_taken ? equal : equals_taken);
    for (int64_t i = part_begin(count, thread); i < part_begin(count, thread + 1); ++i) {
      if (keys[i] < last || (keys[i] == last && equal++ < equals_taken)) take(i, rank++);
    }
  }
};

}  // namespace geosft::cuda
