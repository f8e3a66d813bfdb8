// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/work.h"

#include <catch2/catch.hpp>

namespace geosft::bench::test::test_work {

TEST_CASE("work is counted by pair and channel", "[bench]") {
  const AttentionShape shape{.queries = 10, .keys = 4, .pairs = 40, .width = 8};
  const Work forward = maxout_forward_work(shape), both = maxout_both_work(shape);
  CHECK(forward.max_add == 320);
  CHECK(forward.multiply_add == 320);
  CHECK(forward.bytes == 4 * 8 * 28);
  CHECK(both.max_add == 3.5 * 320);
  CHECK(both.multiply_add == 3 * 320);
  CHECK(both.bytes == 2 * forward.bytes);
  CHECK(forward.elements() == 640);
  CHECK(dot_forward_work(shape).multiply_add == 640);
  CHECK(dot_both_work(shape).multiply_add == 7 * 320);
  CHECK(dot_both_work(shape).max_add == 0);
}

TEST_CASE("relative products are counted once forward and three times backward", "[bench]") {
  const AttentionShape plain{10, 4, 40, 8}, relative{10, 4, 40, 8, 5};
  CHECK(maxout_forward_work(relative).multiply_add - maxout_forward_work(plain).multiply_add == 200);
  CHECK(maxout_both_work(relative).multiply_add - maxout_both_work(plain).multiply_add == 800);
}

TEST_CASE("work of polynomial attention is that of the lesser way", "[bench]") {
  const PolynomialShape many{2, 1000, 3, 2, 10}, few{2, 5, 3, 2, 10};
  CHECK(polynomial_forward_work(many).multiply_add == 2 * 2000 * 10 * 4);
  CHECK(polynomial_forward_work(few).multiply_add == 2 * 25 * 9);
  CHECK(polynomial_both_work(many).multiply_add == 2000 * 10 * 31);
  CHECK(polynomial_both_work(few).multiply_add == 2 * 25 * (9 + 18 + 9));
}

TEST_CASE("the bound is the time of both loops one after the other", "[bench]") {
  CHECK(bound_seconds({30, 40, 0}, {10, 20}) == 5.0);
}

}  // namespace geosft::bench::test::test_work
