// SPDX-License-Identifier: Apache-2.0
// Compiles kernels once per set of vector instructions (Google Highway); the best of the processor is chosen at run
// time. Include this before any header of Highway.
#pragma once

// Disables all targets but the baseline of the compiler (plain C++ on x86-64), AVX2 and AVX-512: the targets between
// them gain nothing here, and vectors of unknown size cannot be kept in arrays.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

#include <type_traits>

// Surround the code of kernels, which is compiled once for each target, in geosft::HWY_NAMESPACE::<unnamed>.
#define GEOSFT_SIMD_BEGIN() \
  HWY_BEFORE_NAMESPACE();   \
  namespace geosft {        \
  namespace HWY_NAMESPACE { \
  namespace {               \
  static_assert(true, "takes the semicolon")
#define GEOSFT_SIMD_END() \
  } /* namespace */       \
  } /* HWY_NAMESPACE */   \
  } /* geosft */          \
  HWY_AFTER_NAMESPACE()

// In the namespace of a target: the functions name_float and name_double from the template name_any.
#define GEOSFT_SIMD_KERNEL(name)                    \
  constexpr auto& name##_float = name##_any<float>; \
  constexpr auto& name##_double = name##_any<double>;

// Once per source: exports them for GEOSFT_SIMD_DISPATCH.
#define GEOSFT_SIMD_EXPORT(name) \
  HWY_EXPORT(name##_float);      \
  HWY_EXPORT(name##_double);

// Returns the kernel name_float or name_double of the chosen target.
#define GEOSFT_SIMD_DISPATCH(T, name)                                           \
  (geosft::select_by_type<T>([] { return HWY_DYNAMIC_DISPATCH(name##_float); }, \
                             [] { return HWY_DYNAMIC_DISPATCH(name##_double); }))

namespace geosft {

template <typename T, class Float, class Double>
auto select_by_type(const Float& single, const Double& twice) {
  if constexpr (std::is_same_v<T, float>) {
    return single();
  } else {
    return twice();
  }
}

}  // namespace geosft
