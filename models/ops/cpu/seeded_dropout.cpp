// SPDX-License-Identifier: Apache-2.0
// Computes seeded_dropout on the CPU: the random numbers of as many groups as a vector has 64-bit lanes at a time.
#include "models/ops/seeded_dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "models/ops/cpu/simd.h"
#include "models/ops/dropout_mask.h"
#include "models/ops/opmath.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/seeded_dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "geometry/operators.h"
#include "models/ops/cpu/vectors-inl.h"

#ifndef GEOSFT_DROPOUT_GROUPS
#define GEOSFT_DROPOUT_GROUPS
namespace geosft {
namespace {

// x and out begin with the elements of group `first`.
template <typename T>
struct DropoutGroups {
  const T* x;
  T* out;
  uint64_t seed, first;
  DropoutScale scale;
};

}  // namespace
}  // namespace geosft
#endif

GEOSFT_SIMD_BEGIN();

#if HWY_TARGET != HWY_SCALAR
// Returns dropout_bits of the groups `first`, `first` + 1, …
template <class D>
HWY_INLINE hn::Vec<D> bits_of_groups(D d, uint64_t seed, uint64_t first) {
  constexpr uint64_t step = 0x9E3779B97F4A7C15ull;
  hn::Vec<D> z = hn::Add(hn::Set(d, seed), hn::Mul(hn::Iota(d, first + 1), hn::Set(d, step)));
  z = hn::Mul(hn::Xor(z, hn::ShiftRight<30>(z)), hn::Set(d, 0xBF58476D1CE4E5B9ull));
  z = hn::Mul(hn::Xor(z, hn::ShiftRight<27>(z)), hn::Set(d, 0x94D049BB133111EBull));
  return hn::Xor(z, hn::ShiftRight<31>(z));
}

// Returns numbers of 16 bits as lanes of the tag d.
template <class D>
HWY_INLINE hn::Vec<D> widened(D d, const uint16_t* from) {
  const auto loaded = hn::LoadU(hn::Rebind<uint16_t, D>(), from);
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::PromoteTo(d, loaded);
  } else {
    return hn::PromoteTo(d, hn::PromoteTo(hn::Rebind<uint32_t, D>(), loaded));
  }
}
#endif

// Groups [begin, end).
template <typename T>
void drop_any(const DropoutGroups<T>& in, int64_t begin, int64_t end) {
  const T kept = static_cast<T>(in.scale.kept);
  int64_t group = begin;
#if HWY_TARGET != HWY_SCALAR
  const Tag<uint64_t> wide;
  const Tag<T> d;
  const hn::RebindToUnsigned<Tag<T>> integers;
  const int64_t groups = static_cast<int64_t>(hn::Lanes(wide)), lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN uint64_t words[hn::MaxLanes(wide)];
  const auto threshold = hn::Set(integers, static_cast<hn::TFromD<decltype(integers)>>(in.scale.threshold));
  for (; group + groups <= end; group += groups) {
    hn::Store(bits_of_groups(wide, in.seed, in.first + static_cast<uint64_t>(group)), wide, words);
    const uint16_t* bits = reinterpret_cast<const uint16_t*>(words);
    for (int64_t at = 0; at < groups * kDropoutLanes; at += lanes) {
      const auto dropped = hn::Lt(widened(integers, bits + at), threshold);
      const int64_t to = group * kDropoutLanes + at;
      const auto scaled = hn::Mul(hn::LoadU(d, in.x + to), hn::Set(d, kept));
      hn::StoreU(hn::IfThenZeroElse(hn::RebindMask(d, dropped), scaled), d, in.out + to);
    }
  }
#endif
  for (; group < end; ++group) {
    const uint64_t bits = dropout_bits(in.seed, in.first + static_cast<uint64_t>(group));
    for (int64_t lane = 0; lane < kDropoutLanes; ++lane) {
      const int64_t at = group * kDropoutLanes + lane;
      in.out[at] = dropped(bits, lane, in.scale.threshold) ? T(0) : in.x[at] * kept;
    }
  }
}
GEOSFT_SIMD_KERNEL(drop)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

GEOSFT_SIMD_EXPORT(drop)

constexpr int64_t groups_per_task = 8192;

// Processes elements [begin, end) one by one, where `first` is the position of element 0.
template <typename T>
void drop_some(const T* x, T* out, int64_t begin, int64_t end, int64_t first, const DropoutScale& scale,
               uint64_t seed) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t place = first + i;
    const uint64_t bits = dropout_bits(seed, static_cast<uint64_t>(place / kDropoutLanes));
    out[i] = dropped(bits, place % kDropoutLanes, scale.threshold) ? T(0) : x[i] * static_cast<T>(scale.kept);
  }
}

template <typename T>
void drop_all(const T* x, T* out, int64_t count, int64_t first, const DropoutScale& scale, uint64_t seed) {
  // One random number decides a group of positions; the first and the last group may lie partly outside.
  const int64_t first_group = (first + kDropoutLanes - 1) / kDropoutLanes;
  const int64_t head = std::min(count, first_group * kDropoutLanes - first), groups = (count - head) / kDropoutLanes;
  drop_some(x, out, 0, head, first, scale, seed);
  const DropoutGroups<T> in{x + head, out + head, seed, static_cast<uint64_t>(first_group), scale};
  at::parallel_for(0, groups, groups_per_task, [&](int64_t begin, int64_t end) {
    GEOSFT_SIMD_DISPATCH(T, drop)(in, begin, end);
  });
  drop_some(x, out, head + groups * kDropoutLanes, count, first, scale, seed);
}

at::Tensor masked_cpu(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first) {
  check_dropout(x, probability, seed, first);
  const at::Tensor input = opmath_contiguous(x), out = at::empty_like(input);
  const DropoutScale scale = dropout_scale(probability);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "seeded_dropout", [&] {
    drop_all(input.const_data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), input.numel(), first, scale,
             static_cast<uint64_t>(*seed.const_data_ptr<int64_t>()));
  });
  return out.to(x.scalar_type());
}

}  // namespace

GEOSFT_KERNELS(CPU, m) {
  m.impl("_seeded_dropout", masked_cpu);
}

}  // namespace geosft
#endif
