// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/sequence_bias.cuh"

#include "tests/models/ops/cuda/emulated_attention.h"
#include "tests/models/ops/sequence_cases.h"

namespace geosft::test::test_sequence_bias {

using namespace sequence_cases;
using cuda::SequenceOperator;

TEST_CASE("the CUDA kernels of sequence_attention, emulated, reproduce the golden cases", "[sequence_bias]") {
  for (const char* name : {"sequence_c17", "sequence_one_item", "sequence_ragged"}) {
    require_emulated_fixture<SequenceOperator>(name, kArguments);
  }
}

TEST_CASE("the CUDA kernels of sequence_attention, emulated, agree with the reference and the CPU", "[sequence_bias]") {
  uint64_t seed = 90;
  for (const Sizes& sizes : tile_sizes()) {
    for (const int64_t depth : {1, 33}) {
      require_emulated_reference<SequenceOperator>(fused, slow, random_sequence(sizes, seed += 10, depth), kArguments,
                                                   "depth " + std::to_string(depth));
    }
  }
}

TEST_CASE("the CUDA kernels of sequence_attention, emulated, take depths of several passes", "[sequence_bias]") {
  Arguments a = random_sequence({{20, 3}, {17, 2}, 2, 4, 5}, 91, 70);
  for (const char* name : {"w_mul", "w_add"}) a.tensors[name] = 0.1 * a[name];
  require_emulated_reference<SequenceOperator>(fused, slow, a, kArguments, "depth 70");
}

TEST_CASE("the CUDA kernels of sequence_attention, emulated, skip gradients that are not requested",
          "[sequence_bias]") {
  const Arguments a = random_sequence({{20, 3}, {17, 2}, 2, 4, 5}, 92, 70);
  require_left_out<SequenceOperator>(a, kArguments, at::randn({23, 2, 5}, generator(9), at::kDouble));
}

}  // namespace geosft::test::test_sequence_bias
