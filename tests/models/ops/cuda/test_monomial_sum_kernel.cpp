// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/monomial_sum_kernel.cuh"

#include <catch2/catch.hpp>

#include "models/ops/cuda/polynomial_host.h"
#include "models/ops/cuda/polynomial_kernels.cuh"
#include "models/ops/monomials.h"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/support.h"

namespace geosft::test::test_monomial_sum_kernel {
namespace {

struct Sizes {
  int64_t rows, c, degree, cv;
};

// The states of all chunks of one item and two heads, [chunks, heads, monomials, cv + 1].
template <ThreadOrder kOrder>
at::Tensor states(const at::Tensor& x, const at::Tensor& y, const Sizes& n, cuda::Reach reach) {
  const cuda::TableShape shape = cuda::table_shape(n.c, n.degree);
  const std::vector<int64_t> offsets{0, n.rows};
  const cuda::PolynomialPlan plan =
      cuda::polynomial_plan(shape, n.c, n.degree, n.cv, reach, 64, {&offsets, &offsets, 1, n.rows, n.rows, 2});
  REQUIRE(plan.monomials);
  const int64_t count = monomial_count(n.c, n.degree);
  at::Tensor numbers = at::empty({int64_t{2} * shape.entries + count * shape.factors}, at::kByte);
  const at::Tensor weights = at::empty({count}, at::kDouble);
  cuda::PolynomialTask<double> task{};
  task.row_tokens.rows = task.column_tokens.rows = {nullptr, 1, n.rows};
  task.column_tokens.x = {x.const_data_ptr<double>(), StorageType::opmath};
  task.column_tokens.factor = 0.5;
  task.column_tokens.y = {y.const_data_ptr<double>(), StorageType::opmath};
  task.heads = 2;
  task.c = static_cast<int>(n.c);
  task.cv = static_cast<int>(n.cv);
  task.degree = n.degree;
  task.reach = reach;
  task.costs = plan.costs;
  task.chunks = plan.chunks;
  task.sums = plan.sums;
  task.table = {task.c,
                n.degree,
                count,
                shape.table_degree,
                shape.entries,
                shape.factors,
                numbers.mutable_data_ptr<uint8_t>(),
                numbers.mutable_data_ptr<uint8_t>() + int64_t{2} * shape.entries,
                weights.mutable_data_ptr<double>()};
  const at::Tensor to =
      at::full({plan.chunks.count(task.column_tokens.rows), 2, count, n.cv + 1}, std::nan(""), at::kDouble);
  task.states = to.mutable_data_ptr<double>();
  cuda::polynomial_grids(cuda::MonomialTableStage(), task, EmulatedGrids<kOrder>());
  cuda::polynomial_grids(cuda::MonomialSumStage(), task, EmulatedGrids<kOrder>());
  return to.slice(0, 0, (n.rows + plan.chunks.rows - 1) / plan.chunks.rows);
}

// Weighed monomials times [1, y] of these rows, [heads, monomials, cv + 1].
at::Tensor sum(const at::Tensor& x, const at::Tensor& y, const Sizes& n) {
  const MonomialBasis basis(n.c, n.degree);
  std::vector<at::Tensor> heads;
  for (int64_t head = 0; head < 2; ++head) {
    const at::Tensor columns = at::cat({at::ones({y.size(0), 1}, y.options()), y.select(1, head)}, 1);
    const at::Tensor made = monomials(x.select(1, head) * 0.5, basis) * at::tensor(basis.weights, at::kDouble);
    heads.push_back(at::matmul(made.t(), columns));
  }
  return at::stack(heads);
}

}  // namespace

TEST_CASE("states are weighed sums of monomials over all chunks, or those before or after", "[monomial_sum_kernel]") {
  for (const Sizes& n : {Sizes{700, 3, 4, 4}, Sizes{600, 2, 1, 20}, Sizes{1000, 10, 3, 5}, Sizes{520, 2, 60, 3},
                         Sizes{300, 8, 4, 1}, Sizes{513, 50, 2, 3}}) {
    INFO("c " << n.c << " degree " << n.degree << " cv " << n.cv);
    const at::Tensor x = at::randn({n.rows, 2, n.c}, generator(1), at::kDouble);
    const at::Tensor y = at::randn({n.rows, 2, n.cv}, generator(2), at::kDouble);
    const at::Tensor all = states<ThreadOrder::kAscending>(x, y, n, cuda::Reach::kAll);
    require_close(all[0], sum(x, y, n), 1e-12, "all");
    require_equal(states<ThreadOrder::kDescending>(x, y, n, cuda::Reach::kAll)[0], all[0], "other order");
    if (monomial_count(n.c, n.degree) > 256) continue;  // chunks are longer then
    const at::Tensor before = states<ThreadOrder::kAscending>(x, y, n, cuda::Reach::kBefore);
    const at::Tensor after = states<ThreadOrder::kAscending>(x, y, n, cuda::Reach::kAfter);
    REQUIRE(before.size(0) >= 2);
    for (int64_t chunk = 0; chunk < before.size(0); ++chunk) {
      const int64_t begin = chunk * 256, end = std::min(begin + 256, n.rows);
      require_close(before[chunk], sum(x.slice(0, 0, begin), y.slice(0, 0, begin), n), 1e-12, "before");
      require_close(after[chunk], sum(x.slice(0, end), y.slice(0, end), n), 1e-12, "after");
    }
  }
}

}  // namespace geosft::test::test_monomial_sum_kernel
