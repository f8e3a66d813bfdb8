// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/row_accessor.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_row_accessor {

TEST_CASE("stored rows are visited in the type that they lie in", "[stored_rows]") {
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const at::Tensor tensor = at::arange(6, at::kFloat).to(type).view({3, 2});
    const RowAccessor<const float> rows = stored_rows<float>(tensor, 2);
    REQUIRE(rows.computed() == (type == at::kFloat));
    rows.visit([&](const auto* numbers) {
      REQUIRE(sizeof(*numbers) == tensor.element_size());
      REQUIRE(static_cast<float>(numbers[5]) == 5.0F);
    });
  }
}

TEST_CASE("stored rows are written in the type that they lie in", "[stored_rows]") {
  const at::Tensor tensor = at::zeros({3, 2}, at::kBFloat16);
  writable_rows<float>(tensor, 2).visit([](auto* numbers) { numbers[3] = 2.5F; });
  REQUIRE(tensor[1][1].item<float>() == 2.5F);
}

TEST_CASE("computed rows are where their row and column say", "[stored_rows]") {
  const at::Tensor tensor = at::arange(6, at::kDouble).view({3, 2});
  REQUIRE(*stored_rows<double>(tensor, 2).at(2, 1) == 5.0);
}

TEST_CASE("rows of a type that kernels do not read are refused", "[stored_rows]") {
  for (const at::ScalarType type : {at::kDouble, at::kFloat8_e5m2, at::kLong}) {
    require_error([&] { stored_rows<float>(at::zeros({3, 2}, type), 2); }, {"Float cannot read"});
  }
  require_error([&] { stored_rows<double>(at::zeros({3, 2}, at::kHalf), 2); }, {"Double cannot read Half"});
}

TEST_CASE("an absent tensor has no rows", "[stored_rows]") {
  REQUIRE_FALSE(stored_rows<float>(at::Tensor(), 2));
  REQUIRE_FALSE(writable_rows<float>(at::Tensor(), 2));
  REQUIRE(stored_rows<float>(at::ones({1, 1}), 1));
}

}  // namespace geosft::test::test_row_accessor
