// SPDX-License-Identifier: Apache-2.0
// softplus-inl.h on every vector target, against double precision.
#include "models/ops/cpu/simd.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/models/ops/attention_cases.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/models/ops/cpu/test_softplus.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "models/ops/cpu/softplus-inl.h"

GEOSFT_SIMD_BEGIN();

// Of a tile [rows][kQueryBlock], in register tiles as kernels take it.
template <typename T>
void softplus_tile_any(const T* x, int64_t rows, T* to, T* slope) {
  softplus_of_tile(rows, kQueryBlock, SoftplusTile<T, StoredTile<T>>{{x}, to, slope});
}
GEOSFT_SIMD_KERNEL(softplus_tile)

template <typename T>
void softplus_sums_any(const T* x, int64_t rows, int64_t width, T* to) {
  softplus_sums(x, rows, width, to);
}
GEOSFT_SIMD_KERNEL(softplus_sums)

GEOSFT_SIMD_END();

#if HWY_ONCE
namespace geosft {
namespace {
GEOSFT_SIMD_EXPORT(softplus_tile)
GEOSFT_SIMD_EXPORT(softplus_sums)
}  // namespace

namespace test::test_softplus {
namespace {

constexpr int64_t tile_rows = 67;  // no whole number of register tiles
template <typename T>
constexpr auto dtype = c10::CppTypeToScalarType<T>::value;

// -100 … 100 as T holds them.
template <typename T>
at::Tensor arguments() {
  return at::linspace(-100, 100, tile_rows * kQueryBlock, at::kDouble).to(dtype<T>);
}

struct Values {
  at::Tensor value, slope;  // float64
};

template <typename T>
Values evaluate(const at::Tensor& x) {
  const at::Tensor value = at::empty_like(x), slope = at::empty_like(x);
  GEOSFT_SIMD_DISPATCH(T, softplus_tile)
  (x.const_data_ptr<T>(), tile_rows, value.data_ptr<T>(), slope.data_ptr<T>());
  return {value.to(at::kDouble), slope.to(at::kDouble)};
}

Values expected(const at::Tensor& x) {
  const at::Tensor exact = x.to(at::kDouble);
  return {exact.exp().log1p(), exact.sigmoid()};
}

void require_relative(const at::Tensor& actual, const at::Tensor& reference, double tolerance,
                      const std::string& what) {
  const at::Tensor error = (actual - reference).abs() / reference;
  INFO(what << ": at " << error.argmax().item<int64_t>());
  REQUIRE(error.max().item<double>() <= tolerance);
}

}  // namespace

TEST_CASE("softplus and its derivative in single precision, every digit but the last", "[softplus]") {
  const at::Tensor x = arguments<float>(), normal = x >= -87;
  const Values reference = expected(x);
  for_each_target([&](const std::string& target) {
    const Values found = evaluate<float>(x);
    require_relative(found.value.masked_select(normal), reference.value.masked_select(normal), 4e-7, target + " value");
    require_relative(found.slope.masked_select(normal), reference.slope.masked_select(normal), 6e-7, target + " slope");
    // Below, both are what they are at -87.
    const at::Tensor tiny = at::cat({found.value.masked_select(~normal), found.slope.masked_select(~normal)});
    REQUIRE(tiny.min().item<double>() > 0);
    REQUIRE(tiny.max().item<double>() < 1.7e-38);
  });
}

TEST_CASE("softplus and its derivative in double precision, to the last bits", "[softplus]") {
  const at::Tensor x = arguments<double>();
  const Values reference = expected(x);
  for_each_target([&](const std::string& target) {
    const Values found = evaluate<double>(x);
    require_relative(found.value, reference.value, 1e-15, target + " value");
    require_relative(found.slope, reference.slope, 1e-15, target + " slope");
  });
}

TEMPLATE_TEST_CASE("sums of softplus, to which minus infinity adds nothing", "[softplus]", float, double) {
  constexpr int64_t rows = 37;
  for (const int64_t width : {1, 3, 8, 19}) {
    at::Tensor x = (at::randn({rows, width}, generator(width), at::kDouble) * 9).to(dtype<TestType>);
    x.slice(0, 0, rows, 2).fill_(-std::numeric_limits<TestType>::infinity());
    x.select(1, 0).fill_(-std::numeric_limits<TestType>::infinity());
    const at::Tensor reference = x.to(at::kDouble).exp().log1p().sum(0), sums = at::empty({width}, dtype<TestType>);
    for_each_target([&](const std::string& target) {
      GEOSFT_SIMD_DISPATCH(TestType, softplus_sums)
      (x.const_data_ptr<TestType>(), rows, width, sums.data_ptr<TestType>());
      REQUIRE(sums[0].item<double>() == 0.0);
      const at::Tensor others = sums.slice(0, 1).to(at::kDouble);
      require_close(others, reference.slice(0, 1), sizeof(TestType) == 4 ? 1e-6 : 1e-14, target);
    });
  }
}

}  // namespace test::test_softplus
}  // namespace geosft
#endif
