// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/seeded_dropout_kernel.cuh"

#include <catch2/catch.hpp>

#include "models/ops/cuda/seeded_dropout_host.h"
#include "models/ops/seeded_dropout.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/support.h"

namespace geosft::test::test_seeded_dropout_kernel {

TEST_CASE("the CUDA kernel of dropout, emulated, keeps what the CPU keeps", "[seeded_dropout_kernel]") {
  const at::Tensor seed = at::tensor({-5}, at::kLong);
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const int64_t count : {0, 1, 5, 1023, 1024, 5003}) {
      const at::Tensor x = at::rand({count}, generator(3)).to(type) + 1;
      for (const int64_t first : {0, 3, 4096}) {
        const at::Tensor actual = cuda::masked(
            x, 0.3, seed, first, [](const auto& in) { cuda::run_grids(in, EmulatedGrids<ThreadOrder::kAscending>()); });
        require_equal(actual, seeded_dropout(x, 0.3, seed, first), std::to_string(count));
      }
    }
  }
  const at::Tensor eighth = at::ones({4}).to(at::kFloat8_e5m2);
  require_error([&] { cuda::masked(eighth, 0.3, seed, 0, [](const auto&) {}); }, {"x", "float16", "Float8"});
}

}  // namespace geosft::test::test_seeded_dropout_kernel
