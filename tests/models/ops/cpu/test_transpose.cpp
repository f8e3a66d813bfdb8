// SPDX-License-Identifier: Apache-2.0
// transpose-inl.h on every vector target.
#include "models/ops/cpu/simd.h"

#include <catch2/catch.hpp>

#include "tests/models/ops/attention_cases.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/models/ops/cpu/test_transpose.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/transpose-inl.h"

GEOSFT_SIMD_BEGIN();

// The lanes that were written.
template <typename T>
int64_t pack_any(const T* from, int64_t stride, int64_t rows, int64_t columns, T* to) {
  pack_rows(from, stride, rows, padded_rows<T>(rows), columns, to);
  return padded_rows<T>(rows);
}
GEOSFT_SIMD_KERNEL(pack)

template <typename T>
void unpack_any(const T* from, int64_t rows, int64_t columns, T* to, int64_t stride) {
  unpack_rows(from, rows, columns, to, stride);
}
GEOSFT_SIMD_KERNEL(unpack)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {
GEOSFT_SIMD_EXPORT(pack)
GEOSFT_SIMD_EXPORT(unpack)
}  // namespace

namespace test::test_transpose {
namespace {

constexpr int64_t stride = 23;       // of a row of tokens
constexpr double untouched = -5000;  // what nothing may be written over

// Counts on from 1, row by row.
template <typename T>
at::Tensor counted(int64_t rows, int64_t columns) {
  return at::arange(1, rows * columns + 1, c10::CppTypeToScalarType<T>::value).view({rows, columns});
}

template <typename T>
void require_packed(int64_t rows, int64_t columns, const std::string& what) {
  const at::Tensor tokens = counted<T>(rows, stride);
  const at::Tensor lanes = at::full({columns + 1, kQueryBlock}, untouched, tokens.options());
  const int64_t padded =
      GEOSFT_SIMD_DISPATCH(T, pack)(tokens.const_data_ptr<T>(), stride, rows, columns, lanes.template data_ptr<T>());
  at::Tensor expected = at::full_like(lanes, untouched);
  expected.slice(0, 0, columns).slice(1, 0, padded).zero_();
  expected.slice(0, 0, columns).slice(1, 0, rows).copy_(tokens.slice(1, 0, columns).t());
  REQUIRE((padded >= rows && padded <= kQueryBlock));
  require_equal(lanes, expected, what + " packed");
}

template <typename T>
void require_unpacked(int64_t rows, int64_t columns, const std::string& what) {
  const at::Tensor lanes = counted<T>(columns, kQueryBlock);
  const at::Tensor tokens = at::full({rows + 1, stride}, untouched, lanes.options());
  GEOSFT_SIMD_DISPATCH(T, unpack)
  (lanes.const_data_ptr<T>(), rows, columns, tokens.template data_ptr<T>(), stride);
  at::Tensor expected = at::full_like(tokens, untouched);
  expected.slice(0, 0, rows).slice(1, 0, columns).copy_(lanes.slice(1, 0, rows).t());
  require_equal(tokens, expected, what + " unpacked");
}

}  // namespace

TEMPLATE_TEST_CASE("rows become lanes and come back, and nothing else is written", "[transpose]", float, double) {
  for_each_target([&](const std::string& target) {
    for (const int64_t rows : {1, 3, 4, 7, 8, 16, 17, 63, 128}) {
      for (const int64_t columns : {1, 3, 4, 5, 8, 23}) {
        const std::string what = target + ", " + std::to_string(rows) + " x " + std::to_string(columns);
        require_packed<TestType>(rows, columns, what);
        require_unpacked<TestType>(rows, columns, what);
      }
    }
  });
}

}  // namespace test::test_transpose
}  // namespace geosft
#endif
