// SPDX-License-Identifier: Apache-2.0
#include "geometry/small_cloud_search.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "geometry/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "geometry/small_cloud_search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef GEOSFT_SMALL_CLOUD_SEARCH_ONCE
#define GEOSFT_SMALL_CLOUD_SEARCH_ONCE
namespace geosft {
namespace {

constexpr int64_t max_lanes = 16;

// More candidates than neighbours are accepted: each costs less than another pass over the distances.
constexpr int64_t spare_candidates(int64_t k) {
  return 6 + k / 4;
}

constexpr int64_t candidate_room(int64_t k) {
  return (k + spare_candidates(k) + 2 * max_lanes - 1) / max_lanes * max_lanes;
}

// See SmallCloud; workspace: padded distances, then candidate_room(k) candidates, their rows and their ranks.
template <typename T>
struct SmallSearch {
  const T* cloud;
  int64_t count, padded, k;
  const T* query;
  T* workspace;
  T* bound;
  int64_t* rows;
  T* dist2;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();
namespace hn = hwy::HWY_NAMESPACE;

// Integers of the size of T.
template <typename T>
using RowOf = hn::TFromD<hn::RebindToSigned<hn::ScalableTag<T>>>;

template <typename T>
void all_distances(const SmallSearch<T>& s) {
  const hn::ScalableTag<T> d;
  const auto x = hn::Set(d, s.query[0]), y = hn::Set(d, s.query[1]), z = hn::Set(d, s.query[2]);
  for (int64_t i = 0; i < s.padded; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto dx = hn::Sub(x, hn::LoadU(d, s.cloud + i)), dy = hn::Sub(y, hn::LoadU(d, s.cloud + s.padded + i)),
               dz = hn::Sub(z, hn::LoadU(d, s.cloud + 2 * s.padded + i));
    // In the order of squared_distance, without fused multiply-add: the same bits.
    hn::StoreU(hn::Add(hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy)), hn::Mul(dz, dz)), d, s.workspace + i);
  }
}

template <typename T>
int64_t count_within(const SmallSearch<T>& s, T bound) {
  const hn::ScalableTag<T> d;
  const auto limit = hn::Set(d, bound);
  size_t found = 0;
  for (int64_t i = 0; i < s.padded; i += static_cast<int64_t>(hn::Lanes(d))) {
    found += hn::CountTrue(d, hn::Le(hn::LoadU(d, s.workspace + i), limit));
  }
  return static_cast<int64_t>(found);
}

// Finds a bound that at least k and at most k + spare_candidates(k) distances are within. Their number grows about
// linearly with the squared distance on a surface. Returns 0 where there is none, or none is found soon.
template <typename T>
int64_t find_bound(const SmallSearch<T>& s, T& bound) {
  constexpr int max_passes = 12;
  const int64_t max_candidates = s.k + spare_candidates(s.k);
  const T aim = static_cast<T>(s.k) + static_cast<T>(spare_candidates(s.k)) / 2;
  T low = 0, high = std::numeric_limits<T>::infinity(), below = 0, above = 0;
  bound = *s.bound > 0 ? *s.bound : T(1);
  for (int pass = 0; pass < max_passes; ++pass) {
    const int64_t found = count_within(s, bound);
    if (found >= s.k && found <= max_candidates) return found;
    const T number = static_cast<T>(found);
    (found < s.k ? low : high) = bound;
    (found < s.k ? below : above) = number;
    bound = high < std::numeric_limits<T>::infinity() ? low + (high - low) * ((aim - below) / (above - below))
                                                      : bound * std::clamp(aim / std::max(number, T(1)), T(1.25), T(8));
    if (!(bound > low && bound < high)) return 0;
  }
  return 0;
}

// Writes the distances within `bound`, and their rows, in ascending order of the rows.
template <typename T>
void take_candidates(const SmallSearch<T>& s, T bound, T* values, RowOf<T>* rows) {
  const hn::ScalableTag<T> d;
  const auto limit = hn::Set(d, bound);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int64_t chunk = 64;  // distances to a word of bits
  int64_t at = 0;
  for (int64_t begin = 0; begin < s.padded; begin += chunk) {
    uint64_t bits = 0;
    for (int64_t i = begin; i < std::min(begin + chunk, s.padded); i += lanes) {
      uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Le(hn::LoadU(d, s.workspace + i), limit), bytes);
      bits |= (bytes[0] | static_cast<uint64_t>(bytes[1]) << 8) << (i - begin);
    }
    for (; bits != 0; bits &= bits - 1) {
      const int64_t row = begin + std::countr_zero(bits);
      values[at] = s.workspace[row];
      rows[at++] = static_cast<RowOf<T>>(row);
    }
  }
}

// Sorts the candidates by counting, for each, those that come before it.
template <typename T>
bool search_any(const SmallSearch<T>& s) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  using Row = RowOf<T>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  all_distances(s);
  T bound;
  const int64_t found = find_bound(s, bound);
  if (found == 0) return false;
  T* const values = s.workspace + s.padded;
  Row* const rows = reinterpret_cast<Row*>(values + candidate_room(s.k));
  take_candidates(s, bound, values, rows);
  *s.bound = bound;
  for (int64_t i = 0; i < found; i += lanes) {
    const auto mine = hn::LoadU(d, values + i);
    const auto place = hn::Iota(di, static_cast<Row>(i));
    auto rank = hn::Zero(di);
    for (int64_t j = 0; j < found; ++j) {
      const auto other = hn::Set(d, values[j]);
      const auto earlier = hn::RebindMask(d, hn::Lt(hn::Set(di, static_cast<Row>(j)), place));
      const auto before = hn::Or(hn::Lt(other, mine), hn::And(hn::Eq(other, mine), earlier));
      rank = hn::Sub(rank, hn::VecFromMask(di, hn::RebindMask(di, before)));
    }
    Row ranks[max_lanes];
    hn::StoreU(rank, di, ranks);
    for (int64_t lane = 0; lane < std::min(lanes, found - i); ++lane) {
      if (ranks[lane] >= s.k) continue;
      s.rows[ranks[lane]] = rows[i + lane];
      s.dist2[ranks[lane]] = values[i + lane];
    }
  }
  return true;
}

GEOSFT_SIMD_KERNEL(search)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {
GEOSFT_SIMD_EXPORT(search)
}  // namespace

template <typename T>
bool SmallCloud<T>::suits(int64_t count, int64_t k) {
  return k <= 64 && count > 32 && count <= 1024 && count >= 2 * k;
}

template <typename T>
void SmallCloud<T>::assign(const T* points, int64_t count, int64_t k) {
  count_ = count;
  k_ = k;
  padded_ = (count + max_lanes - 1) / max_lanes * max_lanes;
  bound_ = 0;
  cloud_.assign(static_cast<size_t>(3 * padded_), std::numeric_limits<T>::infinity());
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t axis = 0; axis < 3; ++axis) cloud_[static_cast<size_t>(axis * padded_ + row)] = points[3 * row + axis];
  }
  workspace_.resize(static_cast<size_t>(padded_ + 2 * candidate_room(k)));
}

template <typename T>
bool SmallCloud<T>::search(const T* query, int64_t* rows, T* dist2) {
  const SmallSearch<T> search{cloud_.data(), count_, padded_, k_, query, workspace_.data(), &bound_, rows, dist2};
  return GEOSFT_SIMD_DISPATCH(T, search)(search);
}

template class SmallCloud<float>;
template class SmallCloud<double>;

}  // namespace geosft
#endif
