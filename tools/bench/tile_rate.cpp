// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/machine.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "models/ops/cpu/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/bench/tile_rate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace geosft::bench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t depth = 64;

// Operands a [depth][vectors], b [depth][rows] and a factor of one, opaque to the compiler.
struct Operands {
  const float* a;
  const float* b;
  float one;
};

// Computes sums[j][i] += sum_t combine(a[t][i], b[t][j]), `passes` times.
template <int J, int I, bool use_max>
void run_tile(const Operands& operands, int64_t passes, float* HWY_RESTRICT sums) {
  const hn::ScalableTag<float> d;
  const float* HWY_RESTRICT a = operands.a;
  const float* HWY_RESTRICT b = operands.b;
  [[maybe_unused]] const auto one = hn::Set(d, operands.one);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sum[J][I];
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < I; ++i) sum[j][i] = hn::LoadU(d, sums + (j * I + i) * lanes);
  }
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (int64_t t = 0; t < depth; ++t) {
      hn::Vec<decltype(d)> vector[I];
      for (int i = 0; i < I; ++i) vector[i] = hn::LoadU(d, a + (t * I + i) * lanes);
      for (int j = 0; j < J; ++j) {
        const auto scalar = hn::Set(d, b[t * J + j]);
        for (int i = 0; i < I; ++i) {
          if constexpr (use_max && HWY_NATIVE_FMA) {  // as in the kernels: see MaxPlus
            sum[j][i] = hn::MulAdd(hn::Max(vector[i], scalar), one, sum[j][i]);
          } else if constexpr (use_max) {
            sum[j][i] = hn::Add(sum[j][i], hn::Max(vector[i], scalar));
          } else {
            sum[j][i] = hn::MulAdd(vector[i], scalar, sum[j][i]);
          }
        }
      }
    }
  }
  for (int j = 0; j < J; ++j) {
    for (int i = 0; i < I; ++i) hn::StoreU(sum[j][i], d, sums + (j * I + i) * lanes);
  }
}

// Runs `passes` passes over a tile and returns their number of elements.
template <int J, int I, bool use_max>
int64_t tile(const Operands& operands, int64_t passes, std::vector<float>& sums) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  run_tile<J, I, use_max>(operands, passes, sums.data());
  return J * I * lanes * depth * passes;
}

template <bool use_max>
int64_t tile_of_shape(int64_t shape, const Operands& operands, int64_t passes, std::vector<float>& sums) {
  switch (shape) {
    case 0:
      return tile<4, 4, use_max>(operands, passes, sums);
    case 1:
      return tile<4, 2, use_max>(operands, passes, sums);
    case 2:
      return tile<6, 2, use_max>(operands, passes, sums);
    default:
      return tile<8, 3, use_max>(operands, passes, sums);
  }
}

int64_t run_shape(int64_t shape, bool use_max, const std::vector<float>& a, const std::vector<float>& b, float one,
                  int64_t passes, std::vector<float>& sums) {
  const Operands operands{a.data(), b.data(), one};
  return use_max ? tile_of_shape<true>(shape, operands, passes, sums)
                 : tile_of_shape<false>(shape, operands, passes, sums);
}

int64_t lane_count() {
  return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace geosft::bench {
namespace {

HWY_EXPORT(run_shape);
HWY_EXPORT(lane_count);

constexpr int64_t shapes = 4, tile_depth = 64, max_rows = 8, max_vectors = 4;

// Operands and sums of one thread.
struct TileData {
  TileData() {
    const int64_t lanes = HWY_DYNAMIC_DISPATCH(lane_count)();
    a.assign(static_cast<size_t>(tile_depth * max_vectors * lanes), 0.25F);
    b.assign(static_cast<size_t>(tile_depth * max_rows), 0.5F);
    sums.assign(static_cast<size_t>(max_rows * max_vectors * lanes), 0.0F);
  }
  std::vector<float> a, b, sums;
  float one = 1.0F;
};

// Returns the elements per second of all threads together.
double rate_once(int64_t threads, int64_t shape, bool use_max, int64_t passes) {
  std::vector<TileData> data(static_cast<size_t>(threads));
  std::vector<int64_t> elements(data.size(), 0);
  const auto begin = std::chrono::steady_clock::now();
  at::parallel_for(0, threads, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      elements[i] =
          HWY_DYNAMIC_DISPATCH(run_shape)(shape, use_max, data[i].a, data[i].b, data[i].one, passes, data[i].sums);
    }
  });
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  double total = 0;
  for (const int64_t count : elements) total += static_cast<double>(count);
  return total / spent.count();
}

double best_rate(int64_t threads, bool use_max, double seconds) {
  constexpr int64_t repeats = 8;
  double best = 0;
  for (int64_t shape = 0; shape < shapes; ++shape) {
    const double elements_a_pass = 4 * 4 * tile_depth * static_cast<double>(HWY_DYNAMIC_DISPATCH(lane_count)());
    const double warm = rate_once(threads, shape, use_max, 1000) / static_cast<double>(threads);
    const double share = seconds / (shapes * repeats);
    const auto passes = std::max<int64_t>(1, static_cast<int64_t>(share * warm / elements_a_pass));
    for (int64_t i = 0; i < repeats; ++i) best = std::max(best, rate_once(threads, shape, use_max, passes));
  }
  return best;
}

}  // namespace

TileRates measure_tile_rates(int64_t threads, double seconds) {
  return {best_rate(threads, /*use_max=*/true, seconds / 2), best_rate(threads, /*use_max=*/false, seconds / 2)};
}

double tile_mean(bool use_max) {
  TileData data;
  const int64_t lanes = HWY_DYNAMIC_DISPATCH(lane_count)();
  for (int64_t t = 0; t < tile_depth; ++t) {
    const auto value = static_cast<float>(t % 7);
    std::fill_n(data.a.begin() + t * 4 * lanes, 4 * lanes, value);
    std::fill_n(data.b.begin() + t * 4, 4, value);
  }
  HWY_DYNAMIC_DISPATCH(run_shape)(0, use_max, data.a, data.b, data.one, 1, data.sums);
  double total = 0;
  for (int64_t i = 0; i < 16 * lanes; ++i) total += data.sums[i];
  return total / static_cast<double>(16 * lanes);
}

}  // namespace geosft::bench
#endif
