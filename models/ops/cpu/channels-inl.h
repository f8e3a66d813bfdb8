// SPDX-License-Identifier: Apache-2.0
// Loops over the channels of a row in registers.
#if defined(GEOSFT_CHANNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_CHANNELS_INL_H_
#undef GEOSFT_CHANNELS_INL_H_
#else
#define GEOSFT_CHANNELS_INL_H_
#endif

#include "models/ops/cpu/vectors-inl.h"

GEOSFT_SIMD_BEGIN();

// Calls body.run<U>(d, t) for groups of U vectors of the tag d that begin at channel t, until all channels are covered.
// The last group may overlap the one before: the body must write the same values twice, not add to memory.
template <typename T, class Body>
HWY_INLINE void for_channels(int64_t width, const Body& body) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (width < lanes) {
    const hn::CappedTag<T, 1> one;
    for (int64_t t = 0; t < width; ++t) body.template run<1>(one, t);
    return;
  }
  int64_t t = 0;
  for (; t + 4 * lanes <= width; t += 4 * lanes) body.template run<4>(d, t);
  for (; t < width; t += lanes) body.template run<1>(d, std::min(t, width - lanes));
}

GEOSFT_SIMD_END();
#endif
