// SPDX-License-Identifier: Apache-2.0
// Defines the arithmetic of the kernels, in forms that are cheaper on a GPU.
#pragma once

#include <cmath>

#include "geometry/cuda/block.h"

namespace geosft::cuda {

// Four numbers that are read from shared memory in one instruction.
template <typename T>
struct alignas(16) Vec4 {
  T v[4];
};

// Returns the maximum, or NaN if either is NaN. In float32 this is one instruction; a comparison and a select would be
// two, and fmaxf drops NaN.
GEOSFT_DEVICE float larger(float a, float b) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return a > b || a != a ? a : b;
#endif
}
GEOSFT_DEVICE double larger(double a, double b) {
  return a > b || a != a ? a : b;
}

// Returns 1 / x, or 0 if that would overflow.
template <typename T>
GEOSFT_DEVICE T safe_reciprocal(T x) {
  constexpr T kSmallest = sizeof(T) == 4 ? T(1.17549435082228751e-38) : T(2.2250738585072014e-308);
  return x < kSmallest ? T(0) : T(1) / x;
}

// Returns e^x for x <= 0. In float32 the error is that of x * log2(e): below 1e-6 relative for x > -10, where e^x is
// not negligible compared with 1.
GEOSFT_DEVICE float exp_below_zero(float x) {
#if defined(__CUDA_ARCH__)
  return __expf(x);
#else
  return std::exp(x);
#endif
}
GEOSFT_DEVICE double exp_below_zero(double x) {
  return exp(x);
}

// Returns log(1 + e) for 0 <= e <= 1, relative error 3e-7: the polynomial of the CPU's softplus. The GPU's own
// logarithm of 1 + e would lose the low digits of e.
GEOSFT_DEVICE float log1p_unit(float e) {
  float sum = 0.005232629366219044f;
  sum = fmaf(sum, e, -0.029504986479878426f);
  sum = fmaf(sum, e, 0.07822556048631668f);
  sum = fmaf(sum, e, -0.13663214445114136f);
  sum = fmaf(sum, e, 0.1910599321126938f);
  sum = fmaf(sum, e, -0.2484297901391983f);
  sum = fmaf(sum, e, 0.3331909775733948f);
  sum = fmaf(sum, e, -0.4999949336051941f);
  sum = fmaf(sum, e, 0.9999999403953552f);
  return sum * e;
}
GEOSFT_DEVICE double log1p_unit(double e) {
  return log1p(e);
}

// Returns a / b for 1 <= b <= 2.
GEOSFT_DEVICE float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fdividef(a, b);
#else
  return a / b;
#endif
}
GEOSFT_DEVICE double quotient(double a, double b) {
  return a / b;
}

// softplus(x) = log(1 + e^x) and its derivative, without overflow; exactly 0 for -inf.
template <typename T>
struct Softplus {
  T value, slope;
};
template <typename T>
GEOSFT_DEVICE T softplus(T x) {
  return larger(x, T(0)) + log1p_unit(exp_below_zero(x < 0 ? x : -x));
}
template <typename T>
GEOSFT_DEVICE Softplus<T> softplus_with_slope(T x) {
  const T small = exp_below_zero(x < 0 ? x : -x);
  return {larger(x, T(0)) + log1p_unit(small), quotient(x < 0 ? small : T(1), T(1) + small)};
}

}  // namespace geosft::cuda
