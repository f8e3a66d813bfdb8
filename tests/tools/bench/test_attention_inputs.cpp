// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/attention_inputs.h"

#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_attention_inputs {

TEST_CASE("inputs with heads first hold the numbers of the packed ones", "[bench]") {
  const Sizes sizes = small_sizes();
  const PackedInputs packed = random_inputs(sizes, 9);
  const HeadsFirstInputs first = heads_first(packed, sizes);
  REQUIRE(first.q.sizes() == at::IntArrayRef({2, 3, 37, 4}));
  REQUIRE(first.leak.sizes() == at::IntArrayRef({2, 3, 9}));
  for (const auto& [turned, rows] :
       {std::pair(first.q, packed.q), std::pair(first.k, packed.k), std::pair(first.v, packed.v),
        std::pair(first.leak, packed.leak), std::pair(first.grad_output, packed.grad_output)}) {
    CHECK(turned.is_contiguous());
    geosft::test::require_equal(packed_rows(turned).detach(), rows.detach(), "rows");
  }
  CHECK(first.q.requires_grad());
  CHECK_FALSE(first.grad_output.requires_grad());
}

TEST_CASE("a seed gives the same inputs again, another seed others", "[bench]") {
  Sizes sizes = small_sizes();
  const at::Tensor once = random_inputs(sizes, 9).k;
  CHECK(at::equal(once, random_inputs(sizes, 9).k));
  sizes.seed += 1;
  CHECK_FALSE(at::equal(once, random_inputs(sizes, 9).k));
}

TEST_CASE("equal items begin where the ones before them end", "[bench]") {
  geosft::test::require_equal(equal_offsets(3, 5), at::tensor({0, 5, 10, 15}, at::kLong), "offsets");
  const AttentionShape shape = attention_shape(small_sizes(), 9);
  CHECK(shape.queries == 74);
  CHECK(shape.keys == 18);
  CHECK(shape.pairs == 666);
  CHECK(shape.width == 12);
}

}  // namespace geosft::bench::test::test_attention_inputs
