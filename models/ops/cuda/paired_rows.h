// SPDX-License-Identifier: Apache-2.0
// Provides the steps shared by kernels that pair rows and columns by inner products. Each thread of a block has one
// row; the columns pass through shared memory, and a thread processes a group of them at a time. One thread computes
// each sum in a fixed order.
#pragma once

#include "models/ops/cuda/attention_bias.cuh"

namespace geosft::cuda {

// The results requested of the pair weights w(x . x'): the value and its normaliser, the gradient of x, or the value
// without a normaliser and the gradient.
enum class PairPart { kValue, kGradient, kBoth };

// Calls body(part) with the part of a task as a type.
template <PairPart kPart>
struct PairPartOf {
  static constexpr PairPart kValue = kPart;
};
template <class Task, class Body>
void with_part(const Task& task, const Body& body) {
  if (task.part() == PairPart::kValue) return body(PairPartOf<PairPart::kValue>());
  if (task.part() == PairPart::kGradient) return body(PairPartOf<PairPart::kGradient>());
  body(PairPartOf<PairPart::kBoth>());
}

template <int Value>
struct KernelNumber {
  static constexpr int kValue = Value;
};

// Calls body(number) with the compiled width for heads of `width` channels.
template <typename T, class Body>
void with_pair_width(int width, const Body& body) {
  if (width <= 16) return body(KernelNumber<16>());
  if constexpr (sizeof(T) == 4) {
    if (width <= 32) return body(KernelNumber<32>());
    if (width <= 64) return body(KernelNumber<64>());
  }
  body(KernelNumber<kMaxWidth>());
}

template <typename T, int Width>
struct PairedRows {
  static constexpr int kChunks = Width / 4, kGroup = 4;
  // Columns in shared memory.
  static constexpr int kColumns = sizeof(T) * Width > 512 ? 8 : (Width > 32 ? 16 : 32);
  using Sums = Vec4<T>[kChunks];

  // product[g] = row . tile[begin + g].
  template <int Stride, int Count>
  GEOSFT_DEVICE static void products(const Vec4<T> (&row)[Stride], const Vec4<T> (&tile)[Count][kChunks], int begin,
                                     T (&product)[kGroup]) {
    GEOSFT_UNROLL
    for (int g = 0; g < kGroup; ++g) product[g] = 0;
    GEOSFT_UNROLL_TWO
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const Vec4<T> mine = row[chunk];
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> theirs = tile[begin + g][chunk];
        GEOSFT_UNROLL
        for (int t = 0; t < 4; ++t) product[g] += mine.v[t] * theirs.v[t];
      }
    }
  }

  // Adds weight[g] * tile[begin + g] for the rows that count. Masked rows are skipped, because 0 * NaN would propagate.
  template <int Count>
  GEOSFT_DEVICE static void add(const T (&weight)[kGroup], const bool (&counts)[kGroup],
                                const Vec4<T> (&tile)[Count][kChunks], int begin, Sums& sum) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      GEOSFT_UNROLL
      for (int g = 0; g < kGroup; ++g) {
        const Vec4<T> theirs = tile[begin + g][chunk];
        GEOSFT_UNROLL
        for (int t = 0; t < 4; ++t) {
          if (counts[g]) sum[chunk].v[t] += weight[g] * theirs.v[t];
        }
      }
    }
  }

  GEOSFT_DEVICE static void clear(Sums& sum) {
    GEOSFT_UNROLL
    for (int chunk = 0; chunk < kChunks; ++chunk) sum[chunk] = Vec4<T>{};
  }
};

}  // namespace geosft::cuda
