// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/ladder/ladder.h"

#include "tests/models/ops/reference.h"
#include "tests/support.h"
#include "tests/tools/bench/ladder_case.h"

namespace geosft::bench::test::test_ladder {

TEST_CASE("the reference of the ladder is the operators' reference", "[bench]") {
  const LadderCase one(2, 11, 7, 3, 5);
  const std::vector<double> found = ladder_reference(one.problem);
  const auto wide = [](const at::Tensor& t) { return t.detach().to(at::kDouble); };
  const at::Tensor expected = geosft::test::reference_maxout(
      wide(one.in.q), wide(one.in.k), wide(one.in.v), wide(one.in.leak), {}, {}, one.in.q_ptr, one.in.k_ptr, 1e-6);
  geosft::test::require_close(at::tensor(found).view_as(expected), expected, 1e-7, "reference");
}

TEST_CASE("errors are seen, also numbers that are none", "[bench]") {
  LadderCase one(1, 4, 4, 1, 2);
  const std::vector<double> reference = ladder_reference(one.problem);
  CHECK_FALSE(ladder_error(one.problem, reference) < 1e-5);
  variant_2_scalar_tiles(one.problem);
  CHECK(ladder_error(one.problem, reference) < 1e-5);
  one.problem.out[3] += 1;
  CHECK(ladder_error(one.problem, reference) > 1e-2);
}

TEST_CASE("rows that are packed come back over their sums", "[bench]") {
  const LadderCase one(1, 5, 3, 2, 3);
  std::vector<float> columns(3 * 4, 0.0F);
  one.problem.pack(0, 1, 4, 4, columns.data());
  const std::vector<float> total(4, 2.0F);
  one.problem.unpack(0, 1, 4, 4, columns.data(), total.data());
  const at::Tensor expected = one.in.q.detach()[4][1] / 2;
  geosft::test::require_equal(one.out[4][1], expected, "row");
  CHECK(one.out[3].isnan().all().item<bool>());
}

TEST_CASE("the ladder ends with the operator", "[bench]") {
  REQUIRE(ladder().size() == 6);
  for (size_t i = 0; i < ladder().size(); ++i) CHECK(ladder()[i].name.rfind(std::to_string(i + 1) + " ", 0) == 0);
  CHECK(ladder().back().name == "6 the operator");
}

}  // namespace geosft::bench::test::test_ladder
