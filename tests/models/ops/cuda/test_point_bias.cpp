// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/point_bias.cuh"

#include "tests/models/ops/cuda/emulated_attention.h"
#include "tests/models/ops/point_cases.h"

namespace geosft::test::test_point_bias {

using namespace point_cases;
using cuda::PointOperator;

namespace {

// Tiles of all sizes, with these numbers of channels in turn.
void require_both_channels(uint64_t seed, int64_t even, int64_t odd) {
  for (const Sizes& sizes : tile_sizes()) {
    const int64_t channels = ++seed % 2 == 0 ? even : odd;
    const Arguments a = random_points(sizes, seed, channels);
    require_emulated_reference<PointOperator>(fused, slow, a, kArguments, std::to_string(channels) + " channels");
  }
}

}  // namespace

TEST_CASE("the CUDA kernels of point_attention, emulated, reproduce the golden cases", "[point_bias]") {
  for (const char* name : {"angles_c17", "angles_one_item", "angles_ragged", "chirality_one_item", "chirality_ragged",
                           "normals_c17", "one_item", "ragged", "ragged_normals", "zero_rows"}) {
    require_emulated_fixture<PointOperator>(std::string("point_") + name, kArguments);
  }
}

TEST_CASE("the CUDA kernels of point_attention, emulated, agree with the reference and the CPU", "[point_bias]") {
  require_both_channels(20, 2, 1);
}

TEST_CASE("the CUDA kernels of angles, emulated, agree with the reference and the CPU", "[point_bias]") {
  require_both_channels(60, 4, 5);
}

TEST_CASE("the CUDA kernels of point_attention, emulated, survive softplus far from zero", "[point_bias]") {
  Arguments a = random_points({{20}, {9}, 2, 4, 4}, 33, 2);
  a.tensors["b_mul"] = at::tensor({300.0, -300.0}, at::kDouble);
  require_emulated_reference<PointOperator>(fused, slow, a, kArguments, "extreme");
}

TEST_CASE("the CUDA kernels of point_attention, emulated, take float16 and bfloat16", "[point_bias]") {
  const auto run = [](const Arguments& arguments, const at::Tensor& grad_output, at::ScalarType type) {
    return emulate<EmulatedLauncher<true>, PointOperator>(arguments, kArguments, grad_output, type);
  };
  require_half_outcome(run, slow, random_points({{20, 3}, {17, 2}, 2, 4, 5}, 36, 5));
}

TEST_CASE("CUDA point_attention skips gradients that are not requested", "[cuda]") {
  for (const int64_t channels : {2, 4, 5}) {
    const Arguments a = random_points({{9, 40}, {4, 20}, 2, 3, 2}, 37, channels);
    require_left_out<PointOperator>(a, kArguments, at::randn({49, 2, 2}, generator(9), at::kDouble));
  }
}

}  // namespace geosft::test::test_point_bias
