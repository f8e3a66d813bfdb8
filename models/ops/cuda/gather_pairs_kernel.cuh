// SPDX-License-Identifier: Apache-2.0
// Computes gather_pairs on a GPU, one element of the result per thread. For the gradient of x, one thread per element
// sums the samples of its row in order. For the gradient of each weight, the threads of a warp share its channels.
//
// Bound: memory, three numbers per element of the result in the forward pass (1.5 us for 32 x 256 x 256 at 3 TB/s).
#pragma once

#include "geometry/cuda/element_kernel.cuh"
#include "geometry/cuda/packed_tiles.h"
#include "models/ops/cuda/accessor.h"

namespace geosft::cuda {

// x [rows, width], top, partner and weight [samples], out [samples, width]. Out-of-range indices are clamped to the
// nearest row.
template <typename T>
struct PairGather {
  Accessor<const T> x;
  const int64_t* top;
  const int64_t* partner;
  Accessor<const T> weight;
  int64_t rows, samples, width;
  Accessor<T> out;

  GEOSFT_DEVICE T first(int64_t sample, int64_t channel) const {
    return x.read(clamped(top[sample], 0, rows - 1) * width + channel);
  }
  GEOSFT_DEVICE T second(int64_t sample, int64_t channel) const {
    return x.read(clamped(partner[sample], 0, rows - 1) * width + channel);
  }

  GEOSFT_HOST_DEVICE int64_t elements() const { return samples * width; }
  GEOSFT_DEVICE void compute(int64_t at) const {
    const int64_t sample = at / width, channel = at % width;
    const T of_top = first(sample, channel), of_partner = second(sample, channel);
    out.write(at, of_partner + weight.read(sample) * (of_top - of_partner));
  }
};

// grad [samples, width], x_grad [rows, width]. Row r was sampled as codes[row_ptr[r]] … codes[row_ptr[r + 1] - 1]: 2 j
// as the top of sample j, 2 j + 1 as its partner.
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
      const int64_t sample = codes[i] / 2;
      const T share = codes[i] % 2 == 0 ? weight.read(sample) : T(1) - weight.read(sample);
      sum += share * grad.read(sample * width + channel);
    }
    x_grad.write(at, sum);
  }
};

// grad [samples, width], weight_grad [samples]; `pairs` as in the forward pass, without `out`.
template <typename T>
struct PairWeights {
  PairGather<T> pairs;
  Accessor<const T> grad;
  Accessor<T> weight_grad;
};

template <typename T>
class PairWeightKernel {
 public:
  static constexpr int kBlockThreads = 256, kLanes = 32, kSamples = kBlockThreads / kLanes;
  struct Tiles {
    T sum[kSamples][kLanes + 1];  // padded by one: threads that read a column then use all banks
  };
  using Arguments = PairWeights<T>;

  template <class Block>
  GEOSFT_DEVICE static void run(Block& block, const Arguments& in) {
    Tiles& tiles = block.template shared<Tiles>();
    const PairGather<T>& pairs = in.pairs;
    const int64_t begin = block.x() * kSamples;
    block.each([&](int thread) {
      const int64_t sample = begin + thread / kLanes;
      T sum = 0;
      for (int64_t channel = thread % kLanes; sample < pairs.samples && channel < pairs.width; channel += kLanes) {
        sum += in.grad.read(sample * pairs.width + channel) *
               (pairs.first(sample, channel) - pairs.second(sample, channel));
      }
      tiles.sum[thread / kLanes][thread % kLanes] = sum;
    });
    block.each([&](int thread) {
      if (thread >= kSamples || begin + thread >= pairs.samples) return;
      T sum = 0;
      for (int lane = 0; lane < kLanes; ++lane) sum += tiles.sum[thread][lane];
      in.weight_grad.write(begin + thread, sum);
    });
  }
};

template <typename T, class Run>
void run_grids(const PairWeights<T>& in, Run&& run) {
  using Kernel = PairWeightKernel<T>;
  run.template grid<Kernel>((in.pairs.samples + Kernel::kSamples - 1) / Kernel::kSamples, 1, in);
}

}  // namespace geosft::cuda
