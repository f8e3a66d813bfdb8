// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/row_accessor.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_row_accessor {

TEST_CASE("rows are visited in their storage type", "[row_accessor]") {
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

TEST_CASE("rows are written in their storage type", "[row_accessor]") {
  const at::Tensor tensor = at::zeros({3, 2}, at::kBFloat16);
  writable_rows<float>(tensor, 2).visit([](auto* numbers) { numbers[3] = 2.5F; });
  REQUIRE(tensor[1][1].item<float>() == 2.5F);
}

TEST_CASE("rows of the opmath type are addressed by row and column", "[row_accessor]") {
  const at::Tensor tensor = at::arange(6, at::kDouble).view({3, 2});
  REQUIRE(*stored_rows<double>(tensor, 2).at(2, 1) == 5.0);
}

TEST_CASE("rows of a type that kernels do not read are refused", "[row_accessor]") {
  for (const at::ScalarType type : {at::kDouble, at::kFloat8_e5m2, at::kLong}) {
    require_error([&] { stored_rows<float>(at::zeros({3, 2}, type), 2); }, {"Float cannot read"});
  }
  require_error([&] { stored_rows<double>(at::zeros({3, 2}, at::kHalf), 2); }, {"Double cannot read Half"});
}

TEST_CASE("an absent tensor has no rows", "[row_accessor]") {
  REQUIRE_FALSE(stored_rows<float>(at::Tensor(), 2));
  REQUIRE_FALSE(writable_rows<float>(at::Tensor(), 2));
  REQUIRE(stored_rows<float>(at::ones({1, 1}), 1));
}

}  // namespace geosft::test::test_row_accessor
