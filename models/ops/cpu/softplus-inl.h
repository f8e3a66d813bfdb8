// SPDX-License-Identifier: Apache-2.0
// softplus and its derivative on vectors.
#if defined(GEOSFT_SOFTPLUS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GEOSFT_SOFTPLUS_INL_H_
#undef GEOSFT_SOFTPLUS_INL_H_
#else
#define GEOSFT_SOFTPLUS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace geosft {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// c[0] + c[1] x + … + c[N - 1] x^(N - 1).
template <class D, class V, size_t N>
HWY_INLINE V polynomial(D d, V x, const float (&c)[N]) {
  V sum = hn::Set(d, c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

// e^x for -87 <= x <= 0 (smaller x count as -87), relative error 2e-7: e^x = 2^n e^r with |r| <= log(2) / 2.
template <class D, class V>
HWY_INLINE V exp_below_zero(D d, V x) {
  static constexpr float kCoefficients[] = {1.0000001192092896f,  0.9999997019767761f,  0.49998894333839417f,
                                            0.16667574644088745f, 0.04191538318991661f, 0.008297652006149292f};
  const hn::RebindToSigned<D> integers;
  const V clamped = hn::Max(x, hn::Set(d, -87.0f));
  const auto n = hn::NearestInt(hn::Mul(clamped, hn::Set(d, 1.44269504088896341f)));
  const V whole = hn::ConvertTo(d, n);
  // log(2) in two parts: the first times n is exact.
  const V rest = hn::NegMulAdd(whole, hn::Set(d, 1.428606820309417e-6f),
                               hn::NegMulAdd(whole, hn::Set(d, 0.693145751953125f), clamped));
  const auto power = hn::ShiftLeft<23>(hn::Add(n, hn::Set(integers, 127)));
  return hn::Mul(polynomial(d, rest, kCoefficients), hn::BitCast(d, power));
}

// log(1 + e) for 0 <= e <= 1, relative error 3e-7.
template <class D, class V>
HWY_INLINE V log1p_unit(D d, V e) {
  static constexpr float kCoefficients[] = {0.9999999403953552f,  -0.4999949336051941f,   0.3331909775733948f,
                                            -0.2484297901391983f, 0.1910599321126938f,    -0.13663214445114136f,
                                            0.07822556048631668f, -0.029504986479878426f, 0.005232629366219044f};
  return hn::Mul(e, polynomial(d, e, kCoefficients));
}

// log(1 + e^x) without overflow; e^-|x| into `small`. float32 to 3e-7 relative, float64 to its last bits.
template <class D, class V>
HWY_INLINE V softplus(D d, V x, V* small) {
  const V negative = hn::Neg(hn::Abs(x));
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    *small = exp_below_zero(d, negative);
    return hn::Add(hn::Max(x, hn::Zero(d)), log1p_unit(d, *small));
  } else {
    *small = hn::Exp(d, negative);
    return hn::Add(hn::Max(x, hn::Zero(d)), hn::Log1p(d, *small));
  }
}

// 1 / x for 1 <= x <= 2.
template <class D, class V>
HWY_INLINE V reciprocal(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const V guess = hn::ApproximateReciprocal(x);  // 11 bits or more; one step of Newton doubles them
    return hn::Mul(guess, hn::NegMulAdd(guess, x, hn::Set(d, 2)));
  } else {
    return hn::Div(hn::Set(d, 1), x);
  }
}

// 1 / (1 + e^-x), from x and the `small` of softplus.
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x, V small) {
  const V one = hn::Set(d, 1);
  return hn::Mul(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), small, one), reciprocal(d, hn::Add(one, small)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace geosft
HWY_AFTER_NAMESPACE();
#endif
