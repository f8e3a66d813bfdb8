// SPDX-License-Identifier: Apache-2.0
// Computes gather_pairs on a GPU, one element of the result per thread. For the gradient of x, one thread per element
// sums the samples of its row in order. For the gradient of each weight, the threads of a warp share its channels.
//
// Bound: memory, three numbers per element of the result in the forward pass (1.5 us for 32 x 256 x 256 at 3 TB/s).
#pragma once

#include "geometry/cuda/element_tile.h"
#include "geometry/cuda/packed_tiles.h"
#include "models/ops/cuda/accessor.h"

namespace geosft::cuda {

// x [rows, width], top, partner and weight [bins], out [bins, width]. Out-of-range indices are clamped to the nearest
// row.
template <typename T>
struct PairGather {
  Accessor<const T> x;
  const int64_t* top;
  const int64_t* partner;
  Accessor<const T> weight;
  int64_t rows, bins, width;
  Accessor<T> out;

  GEOSFT_DEVICE T first(int64_t bin, int64_t channel) const {
    return x.read(clamped(top[bin], 0, rows - 1) * width + channel);
  }
  GEOSFT_DEVICE T second(int64_t bin, int64_t channel) const {
    return x.read(clamped(partner[bin], 0, rows - 1) * width + channel);
  }

  GEOSFT_HOST_DEVICE int64_t elements() const { return bins * width; }
  GEOSFT_DEVICE void compute(int64_t at) const {
    const int64_t bin = at / width, channel = at % width;
    const T of_top = first(bin, channel), of_partner = second(bin, channel);
    out.write(at, of_partner + weight.read(bin) * (of_top - of_partner));
  }
};

// grad [bins, width], x_grad [rows, width]. Row r was sampled as codes[row_ptr[r]] … codes[row_ptr[r + 1] - 1]: 2 j as
// the top of bin j, 2 j + 1 as its partner.
template <typename T>
struct PairScatter {
  Accessor<const T> grad, weight;
  const int64_t* row_ptr;
  const int64_t* codes;
  int64_t rows, width;
  Accessor<T> x_grad;

  GEOSFT_HOST_DEVICE int64_t elements() const { return rows * width; }
  GEOSFT_DEVICE void compute(int64_t at) const {
    const int64_t row = at / width, channel = at % width;
    T sum = 0;
    for (int64_t i = row_ptr[row]; i < row_ptr[row + 1]; ++i) {
      const int64_t bin = codes[i] / 2;
      const T share = codes[i] % 2 == 0 ? weight.read(bin) : T(1) - weight.read(bin);
      sum += share * grad.read(bin * width + channel);
    }
    x_grad.write(at, sum);
  }
};

// grad [bins, width], weight_grad [bins]; `drawn` as in the forward pass, without `out`.
template <typename T>
struct PairWeights {
  PairGather<T> drawn;
  Accessor<const T> grad;
  Accessor<T> weight_grad;
};

template <typename T>
class PairWeightTile {
 public:
  static constexpr int kBlockThreads = 256, kLanes = 32, kBins = kBlockThreads / kLanes;
  struct Tiles {
    T sum[kBins][kLanes + 1];  // padded by one: threads that read a column then use all banks
  };
  using Arguments = PairWeights<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    Tiles& tiles = block.template shared<Tiles>();
    const PairGather<T>& drawn = in.drawn;
    const int64_t begin = block.x() * kBins;
    block.each([&](int thread) {
      const int64_t bin = begin + thread / kLanes;
      T sum = 0;
      for (int64_t channel = thread % kLanes; bin < drawn.bins && channel < drawn.width; channel += kLanes) {
        sum += in.grad.read(bin * drawn.width + channel) * (drawn.first(bin, channel) - drawn.second(bin, channel));
      }
      tiles.sum[thread / kLanes][thread % kLanes] = sum;
    });
    block.each([&](int thread) {
      if (thread >= kBins || begin + thread >= drawn.bins) return;
      T sum = 0;
      for (int lane = 0; lane < kLanes; ++lane) sum += tiles.sum[thread][lane];
      in.weight_grad.write(begin + thread, sum);
    });
  }
};

template <typename T, class Run>
void run_grids(const PairWeights<T>& in, Run&& run) {
  using Tile = PairWeightTile<T>;
  run.template grid<Tile>((in.drawn.bins + Tile::kBins - 1) / Tile::kBins, 1, in);
}

}  // namespace geosft::cuda
