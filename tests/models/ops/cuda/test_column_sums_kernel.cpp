// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/column_sums_kernel.cuh"

#include <catch2/catch.hpp>

#include "models/ops/cuda/column_sums_host.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/ops/edge_cases.h"

namespace geosft::test::test_column_sums_kernel {

TEST_CASE("the CUDA kernels of column_sums, emulated, agree with the CPU", "[column_sums_kernel]") {
  for (const auto& [rows, width] : {std::pair(0, 3), std::pair(1, 1), std::pair(700, 150)}) {
    const at::Tensor a = normal({rows, width}, 1), b = normal({rows, width}, 2);
    for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16}) {
      const at::Tensor x = a.to(type), y = b.to(type);
      const auto emulated = [&](const auto& grids) {
        return cuda::sums_of_columns(x, y, [&](const auto& in) { cuda::run_grids(in, grids); });
      };
      const at::Tensor sums = emulated(EmulatedGrids<ThreadOrder::kAscending>());
      require_close(sums, column_sums(x, y), 1e-12, "sums", 1.0);
      require_equal(emulated(EmulatedGrids<ThreadOrder::kDescending>()), sums, "other order");
    }
  }
}

}  // namespace geosft::test::test_column_sums_kernel
