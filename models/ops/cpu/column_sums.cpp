// SPDX-License-Identifier: Apache-2.0
// Computes column_sums on the CPU: blocks of rows in parallel, whose sums are then added in order.
#include "models/ops/column_sums.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "models/ops/cpu/simd.h"
#include "models/ops/opmath.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/ops/cpu/column_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "geometry/operators.h"
#include "models/ops/cpu/channels-inl.h"

GEOSFT_SIMD_BEGIN();

template <class D>
HWY_INLINE hn::Vec<D> widened(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}
template <class D>
HWY_INLINE hn::Vec<D> widened(D d, const double* from) {
  return hn::LoadU(d, from);
}

// The sums of rows [begin, end) go to sums [2, width].
template <typename T>
struct BlockOfRows {
  const T *a, *b;
  int64_t begin, end, width;
  double* sums;

  template <int U, class D>
  HWY_INLINE void run(D d, int64_t t) const {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    hn::Vec<D> sum[U], product[U];
    for (int u = 0; u < U; ++u) sum[u] = product[u] = hn::Zero(d);
    for (int64_t i = begin; i < end; ++i) {
      for (int u = 0; u < U; ++u) {
        const int64_t at = i * width + t + u * lanes;
        const hn::Vec<D> number = widened(d, a + at);
        sum[u] = hn::Add(sum[u], number);
        product[u] = hn::MulAdd(number, widened(d, b + at), product[u]);
      }
    }
    for (int u = 0; u < U; ++u) {
      hn::StoreU(sum[u], d, sums + t + u * lanes);
      hn::StoreU(product[u], d, sums + width + t + u * lanes);
    }
  }
};

void sums_float(const float* a, const float* b, int64_t begin, int64_t end, int64_t width, double* sums) {
  for_channels<double>(width, BlockOfRows<float>{a, b, begin, end, width, sums});
}
void sums_double(const double* a, const double* b, int64_t begin, int64_t end, int64_t width, double* sums) {
  for_channels<double>(width, BlockOfRows<double>{a, b, begin, end, width, sums});
}

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {

HWY_EXPORT(sums_float);
HWY_EXPORT(sums_double);

at::Tensor sums_of_columns(const at::Tensor& a_in, const at::Tensor& b_in) {
  check_column_sums(a_in, b_in);
  const at::Tensor a = opmath_contiguous(a_in), b = opmath_contiguous(b_in);
  const int64_t rows = a.size(0), width = a.size(1), blocks = (rows + kSummedRows - 1) / kSummedRows;
  const at::Tensor sums = at::empty({blocks, 2 * width}, a.options().dtype(at::kDouble));
  const at::Tensor out = at::zeros({2, width}, sums.options());
  double *of_blocks = sums.mutable_data_ptr<double>(), *to = out.mutable_data_ptr<double>();
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "column_sums", [&] {
    at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t n = first; n < last; ++n) {
        GEOSFT_SIMD_DISPATCH(scalar_t, sums)
        (a.const_data_ptr<scalar_t>(), b.const_data_ptr<scalar_t>(), n * kSummedRows,
         std::min(rows, (n + 1) * kSummedRows), width, of_blocks + n * 2 * width);
      }
    });
  });
  for (int64_t n = 0; n < blocks; ++n) {
    for (int64_t t = 0; t < 2 * width; ++t) to[t] += of_blocks[n * 2 * width + t];
  }
  return out;
}

}  // namespace

GEOSFT_KERNELS(CPU, m) {
  m.impl("_column_sums", sums_of_columns);
}

}  // namespace geosft
#endif
