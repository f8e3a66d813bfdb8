// SPDX-License-Identifier: Apache-2.0
// Defines the vector types of the target, aligned memory for them, and sums over lanes.
#if defined(GEOSFT_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_VECTORS_INL_H_
#undef GEOSFT_VECTORS_INL_H_
#else
#define GEOSFT_VECTORS_INL_H_
#endif

#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

GEOSFT_SIMD_BEGIN();
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;
// Lanes of a vector: vectors of unknown size are not compiled (see simd.h).
template <typename T>
constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));

// Uninitialised, aligned memory of one thread.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int64_t size) : data_(hwy::AllocateAligned<T>(static_cast<size_t>(std::max<int64_t>(size, 1)))) {}
  T* get() const { return data_.get(); }

 private:
  hwy::AlignedFreeUniquePtr<T[]> data_;
};

// Rows rounded up to whole vectors.
template <typename T>
int64_t padded_rows(int64_t rows) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  return (rows + lanes - 1) / lanes * lanes;
}

// Returns max(v, 0), and NaN for NaN: a vector maximum returns its second operand then, the scalar one does not.
template <class D, class V>
HWY_INLINE V positive_part(D d, V v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v);
#else
  return hn::Max(hn::Zero(d), v);
#endif
}

template <typename T>
HWY_INLINE T lane_sum(Vector<T> v) {
  return hn::GetLane(hn::SumOfLanes(Tag<T>(), v));
}

#if HWY_TARGET != HWY_SCALAR
// Reduces v to four lanes with the same sum, by adding upper halves to lower ones.
template <class D, class V>
HWY_INLINE auto fold_to_four(D d, V v) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold_to_four(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

// to[t] += the sum of the lanes of v[t].
template <typename T, int C>
HWY_INLINE void add_lane_sums(const Vector<T> (&v)[C], T* HWY_RESTRICT to) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (C == 4 && sizeof(T) == 4) {
    const Tag<T> d;
    const hn::FixedTag<T, 4> four;
    const auto a = fold_to_four(d, v[0]), b = fold_to_four(d, v[1]);
    const auto c = fold_to_four(d, v[2]), e = fold_to_four(d, v[3]);
    const auto ab = hn::Add(hn::InterleaveLower(four, a, b), hn::InterleaveUpper(four, a, b));
    const auto ce = hn::Add(hn::InterleaveLower(four, c, e), hn::InterleaveUpper(four, c, e));
    const auto sums = hn::Add(hn::ConcatLowerLower(four, ce, ab), hn::ConcatUpperUpper(four, ce, ab));
    hn::StoreU(hn::Add(hn::LoadU(four, to), sums), four, to);
    return;
  }
#endif
  for (int t = 0; t < C; ++t) to[t] += lane_sum<T>(v[t]);
}

GEOSFT_SIMD_END();
#endif
