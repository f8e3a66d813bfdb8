// SPDX-License-Identifier: Apache-2.0
// Selects the rows with the smallest keys of every item by radix selection. The largest selected key is found digit by
// digit: blocks count the digits of their rows, and one block per item sums these counts. Then the selected rows are
// written in batch order; among equal keys the first rows are selected.
//
// Bound: memory, 8 bytes per row for each digit and twice more. 10^6 scores in float32 take 48 MB, 14 us at 3.35 TB/s,
// and ten kernel launches (18 for keys of 64 bits).
#pragma once

#include "geometry/cuda/packed_tiles.h"

namespace geosft::cuda {

inline constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
inline constexpr int kSelectionThreads = kDigits, kRowsOfThread = 16;
inline constexpr int64_t kSelectionRows = kSelectionThreads * kRowsOfThread;  // per block

// key [rows] has key_bits bits, the others are 0. Item b has the places place_ptr[b] … place_ptr[b + 1] - 1 for its
// selected rows; as many rows are selected as it has places, or all of its rows if there are fewer. row and row_key
// [places]; unused places are not written. Working memory: count [blocks, kDigits]; last and left [items], initially 0.
// last holds the digits found so far of the largest selected key, and left how many keys with these leading digits are
// still to be selected. shift is the position of the current digit.
struct KeySelection {
  const uint64_t* key;
  PackedRows packed;
  const int64_t* place_ptr;
  int64_t places;
  int64_t* row;
  uint64_t* row_key;
  int64_t blocks;
  int32_t* count;
  uint64_t* last;
  int64_t* left;
  int key_bits, shift;
};

GEOSFT_DEVICE RowRange places_of(const KeySelection& in, int64_t item) {
  return item_rows({in.place_ptr, in.packed.items, in.places}, item);
}

GEOSFT_DEVICE PackedTile selection_tile(const KeySelection& in, int64_t block) {
  return packed_tile(in.packed, kSelectionRows, block);
}

// Counts each digit among the rows of a block whose keys begin with the digits found so far.
class DigitCountKernel {
 public:
  static constexpr int kBlockThreads = kSelectionThreads;
  struct Tiles {
    int32_t count[kDigits];
  };
  using Arguments = KeySelection;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const PackedTile rows = selection_tile(in, block.x());
    if (rows.begin >= rows.end) return;
    const uint64_t known = in.last[rows.item];
    Tiles& tiles = block.template shared<Tiles>();
    block.each([&](int thread) { tiles.count[thread] = 0; });
    block.each([&](int thread) {
      for (int64_t row = rows.begin + thread; row < rows.end; row += kBlockThreads) {
        const uint64_t differing = (in.key[row] ^ known) >> in.shift;
        // The current digit of `known` is 0, so the XOR leaves the digit of the key.
        if (differing < kDigits) block.add(tiles.count[differing], 1);
      }
    });
    block.each([&](int thread) { in.count[block.x() * kDigits + thread] = tiles.count[thread]; });
  }
};

// Finds the next digit of an item's largest selected key, one digit per thread.
class DigitChoiceKernel {
 public:
  static constexpr int kBlockThreads = kSelectionThreads;
  struct Tiles {
    int64_t total[kDigits];
    int64_t left;
  };
  using Arguments = KeySelection;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const int64_t item = block.x();
    const RowRange rows = item_rows(in.packed, item), places = places_of(in, item);
    if (rows.begin >= rows.end) return;
    Tiles& tiles = block.template shared<Tiles>();
    block.each([&](int thread) {
      tiles.total[thread] = total(in, item, rows.end - rows.begin, thread);
      if (thread != 0) return;
      const int64_t desired = clamped(places.end - places.begin, 0, rows.end - rows.begin);
      tiles.left = in.shift + kDigitBits == in.key_bits ? desired : in.left[item];
    });
    block.each([&](int thread) {
      int64_t below = 0;
      for (int digit = 0; digit < thread; ++digit) below += tiles.total[digit];
      if (below >= tiles.left || below + tiles.total[thread] < tiles.left) return;
      in.last[item] |= static_cast<uint64_t>(thread) << in.shift;
      in.left[item] = tiles.left - below;
    });
  }

 private:
  GEOSFT_DEVICE static int64_t total(const Arguments& in, int64_t item, int64_t rows, int digit) {
    const int64_t first = first_block(in.packed, kSelectionRows, item);
    int64_t sum = 0;
    for (int64_t tile = first; tile < first + (rows + kSelectionRows - 1) / kSelectionRows; ++tile) {
      sum += in.count[tile * kDigits + digit];
    }
    return sum;
  }
};

// Numbers of rows below the largest selected key, and equal to it, of a thread, of a block or of all previous blocks.
struct TakenCount {
  int64_t below, equal;

  GEOSFT_DEVICE void add(const TakenCount& more) {
    below += more.below;
    equal += more.equal;
  }
};

// The rows of a thread are contiguous, so that places follow their order.
GEOSFT_DEVICE RowRange rows_of_thread(const PackedTile& rows, int thread) {
  const int64_t begin = clamped(rows.begin + thread * kRowsOfThread, rows.begin, rows.end);
  return {begin, clamped(begin + kRowsOfThread, begin, rows.end)};
}

GEOSFT_DEVICE TakenCount taken_count(const KeySelection& in, const PackedTile& rows, int thread) {
  const uint64_t last = in.last[rows.item];
  const RowRange mine = rows_of_thread(rows, thread);
  TakenCount count{0, 0};
  for (int64_t row = mine.begin; row < mine.end; ++row) {
    count.below += in.key[row] < last ? 1 : 0;
    count.equal += in.key[row] == last ? 1 : 0;
  }
  return count;
}

// Writes the counts of a block's rows to the first two elements of its part of `count`.
class TakenCountKernel {
 public:
  static constexpr int kBlockThreads = kSelectionThreads;
  struct Tiles {
    int32_t below, equal;
  };
  using Arguments = KeySelection;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const PackedTile rows = selection_tile(in, block.x());
    if (rows.begin >= rows.end) return;
    Tiles& tiles = block.template shared<Tiles>();
    block.each([&](int thread) {
      if (thread == 0) tiles = {0, 0};
    });
    block.each([&](int thread) {
      const TakenCount count = taken_count(in, rows, thread);
      block.add(tiles.below, static_cast<int32_t>(count.below));
      block.add(tiles.equal, static_cast<int32_t>(count.equal));
    });
    block.each([&](int thread) {
      if (thread == 0) in.count[block.x() * kDigits] = tiles.below;
      if (thread == 1) in.count[block.x() * kDigits + 1] = tiles.equal;
    });
  }
};

// Writes the selected rows.
class TakeKernel {
 public:
  static constexpr int kBlockThreads = kSelectionThreads;
  struct Tiles {
    TakenCount count[kBlockThreads];
    TakenCount earlier[kBlockThreads];  // partial counts of the previous blocks
  };
  using Arguments = KeySelection;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    const PackedTile rows = selection_tile(in, block.x());
    if (rows.begin >= rows.end) return;
    const int64_t first = first_block(in.packed, kSelectionRows, rows.item);
    Tiles& tiles = block.template shared<Tiles>();
    block.each([&](int thread) {
      tiles.count[thread] = taken_count(in, rows, thread);
      TakenCount part{0, 0};
      for (int64_t tile = first + thread; tile < block.x(); tile += kBlockThreads) {
        part.add({in.count[tile * kDigits], in.count[tile * kDigits + 1]});
      }
      tiles.earlier[thread] = part;
    });
    block.each([&](int thread) {
      TakenCount before{0, 0};
      for (int t = 0; t < kBlockThreads; ++t) {
        before.add(tiles.earlier[t]);
        if (t < thread) before.add(tiles.count[t]);
      }
      take(in, rows, thread, before);
    });
  }

 private:
  GEOSFT_DEVICE static void take(const Arguments& in, const PackedTile& rows, int thread, const TakenCount& before) {
    const uint64_t last = in.last[rows.item];
    const int64_t left = in.left[rows.item];
    const RowRange mine = rows_of_thread(rows, thread), places = places_of(in, rows.item);
    int64_t equal = before.equal;
    int64_t place = places.begin + before.below + (equal < left ? equal : left);
    for (int64_t row = mine.begin; row < mine.end; ++row) {
      const uint64_t key = in.key[row];
      if (key > last || (key == last && equal++ >= left)) continue;
      if (place >= places.begin && place < places.end) {  // false only if offsets are wrong
        in.row[place] = row;
        in.row_key[place] = key;
      }
      ++place;
    }
  }
};

template <class Run>
void selection_grids(KeySelection in, Run&& run) {
  for (in.shift = in.key_bits - kDigitBits; in.shift >= 0; in.shift -= kDigitBits) {
    run.template grid<DigitCountKernel>(in.blocks, 1, in);
    run.template grid<DigitChoiceKernel>(in.packed.items, 1, in);
  }
  run.template grid<TakenCountKernel>(in.blocks, 1, in);
  run.template grid<TakeKernel>(in.blocks, 1, in);
}

}  // namespace geosft::cuda
