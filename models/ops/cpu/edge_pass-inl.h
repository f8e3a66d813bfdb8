// SPDX-License-Identifier: Apache-2.0
// Runs over the edges of each row, or of each column, with the channels of the row in registers.
#if defined(GEOSFT_EDGE_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_EDGE_PASS_INL_H_
#undef GEOSFT_EDGE_PASS_INL_H_
#else
#define GEOSFT_EDGE_PASS_INL_H_
#endif

#include "models/ops/cpu/channels-inl.h"

GEOSFT_SIMD_BEGIN();

// Load and store U vectors of the tag d.
template <int U, class D, typename T>
HWY_INLINE void load(D d, const T* from, hn::Vec<D> (&to)[U]) {
  for (int u = 0; u < U; ++u) to[u] = hn::LoadU(d, from + u * static_cast<int64_t>(hn::Lanes(d)));
}
template <int U, class D, typename T>
HWY_INLINE void store(D d, const hn::Vec<D> (&from)[U], T* to) {
  for (int u = 0; u < U; ++u) hn::StoreU(from[u], d, to + u * static_cast<int64_t>(hn::Lanes(d)));
}

// One row of a pass, for for_channels.
template <template <int, class> class Pass, class Arrays>
struct EdgeRow {
  const Arrays& in;
  const int64_t* ptr;
  int64_t i;

  template <int U, class D>
  HWY_INLINE void run(D d, int64_t t) const {
    Pass<U, D> pass(d, in, i, t);
    for (int64_t n = ptr[i]; n < ptr[i + 1]; ++n) pass.add(d, in, n, t);
    pass.end(d, in, i, t);
  }
};

// For rows [begin, end), whose edges are the entries ptr[i] … ptr[i + 1] - 1, and each group of U vectors of channels
// from t: constructs Pass<U, D>(d, in, i, t), calls add(d, in, entry, t) for every entry in order, then end(d, in, i,
// t).
template <typename T, template <int, class> class Pass, class Arrays>
HWY_INLINE void edge_pass(const Arrays& in, const int64_t* ptr, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) for_channels<T>(in.width, EdgeRow<Pass, Arrays>{in, ptr, i});
}

GEOSFT_SIMD_END();
#endif
