// SPDX-License-Identifier: Apache-2.0
#include "models/ops/sequence_attention.h"

#include "tests/models/ops/sequence_cases.h"

namespace geosft::test::test_sequence_attention {

using namespace sequence_cases;

TEST_CASE("sequence_attention reproduces the golden cases", "[sequence_attention]") {
  // Measured: 2.2e-15 of 1e-10, 2.3e-7 of 5e-6, 1.1e-6 of 2e-5 that are allowed.
  for (const char* name : {"sequence_c17", "sequence_one_item", "sequence_ragged"}) {
    require_fixture(fused, name, kArguments);
  }
}

TEST_CASE("sequence_attention agrees with the reference at awkward sizes", "[sequence_attention]") {
  uint64_t seed = 40;
  for (const Sizes& sizes : awkward_sizes()) {
    for (const int64_t depth : {1, 6, 17}) {
      require_reference(fused, slow, random_sequence(sizes, seed += 10, depth), "depth " + std::to_string(depth));
    }
  }
}

TEST_CASE("sequence_attention passes gradcheck", "[sequence_attention]") {
  require_gradcheck(fused, random_sequence({{5, 3}, {4, 2}, 2, 3, 2}, 50, 5));
}

TEST_CASE("sequence_attention gives each gradient alone", "[sequence_attention]") {
  // Measured: the same bits where 1e-12 is allowed.
  require_single_gradients(fused, random_sequence({{9, 140}, {4, 20}, 2, 3, 2}, 55, 5),
                           at::randn({149, 2, 2}, generator(9), at::kDouble));
}

TEST_CASE("sequence_attention does not depend on the number of threads", "[sequence_attention]") {
  for (const Sizes& sizes : {Sizes{{700}, {40}, 2, 8, 8}, Sizes{{300, 20, 513}, {33, 20, 70}, 4, 8, 16}}) {
    const Arguments a = random_sequence(sizes, 51, 6);
    const at::Tensor grad_output = at::randn({a["q"].size(0), sizes.heads, sizes.cv}, generator(8));
    for (const auto type : {at::kFloat, at::kBFloat16}) require_same_bits(fused, a, grad_output, type);
  }
}

TEST_CASE("sequence_attention takes strided inputs and leaves them alone", "[sequence_attention]") {
  require_strided(fused, random_sequence({{9, 4}, {7, 5}, 3, 4, 4}, 54, 5));
}

TEST_CASE("sequence_attention takes float16 and bfloat16", "[sequence_attention]") {
  for (const Sizes& sizes : half_sizes()) require_half(fused, slow, random_sequence(sizes, 53, 3));
}

TEST_CASE("sequence_attention refuses double backward", "[sequence_attention]") {
  require_single_backward(fused, random_sequence({{4}, {3}, 1, 2, 2}, 52, 3), "sequence_attention");
}

TEST_CASE("sequence_attention names the argument that is wrong", "[sequence_attention]") {
  const Arguments good = random_sequence({{4, 3}, {3, 2}, 2, 3, 2}, 53, 4);
  const auto refuses = names_wrong_argument(fused, good);
  const auto doubles = at::TensorOptions().dtype(at::kDouble);
  refuses("s", at::zeros({6, 4}, doubles));
  refuses("s", at::zeros({7}, doubles));
  refuses("s", at::zeros({7, 0}, doubles));
  refuses("ss", at::zeros({5, 3}, doubles));
  refuses("ss", at::zeros({5, 4}, at::kFloat));
  refuses("w_mul", at::zeros({3, 2}, doubles));
  refuses("b_add", at::zeros({3}, doubles));
  refuses("q_ptr", at::tensor({0, 5, 8}, at::kLong));
  refuses("q_ptr", at::tensor({0, 8}, at::kLong), " and k_ptr");
}

}  // namespace geosft::test::test_sequence_attention
