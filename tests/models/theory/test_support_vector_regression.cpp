// SPDX-License-Identifier: Apache-2.0
#include "models/theory/support_vector_regression.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"

namespace geosft::test::test_support_vector_regression {
namespace {

struct Problem {
  at::Tensor kernel, targets;
};

Problem radial_problem() {
  const at::Tensor x = at::randn({30, 3}, generator(1), at::kDouble);
  return {(-at::cdist(x, x).square()).exp(), at::stack({x.select(1, 0).sin(), x.select(1, 1).square()}, 1)};
}

}  // namespace

TEST_CASE("the dual meets the conditions of its optimum", "[support_vector_regression]") {
  const Problem problem = radial_problem();
  const RegressionOptions options{.cost = 2.0, .epsilon = 0.05};
  const SupportVectorRegression regression(problem.kernel, problem.targets, options);
  const at::Tensor dual = regression.dual(), residual = problem.targets - regression.predict(problem.kernel);
  REQUIRE(dual.abs().max().item<double>() <= options.cost);
  require_close(dual.sum(0), at::zeros({2}, at::kDouble), 1e-9, "sum of the dual");
  const at::Tensor bounded = dual.abs() > options.cost - 1e-9, zero = dual == 0;
  const at::Tensor free = (bounded | zero).logical_not();
  REQUIRE(free.any().item<bool>());
  REQUIRE(zero.any().item<bool>());
  // LIBSVM rounds the kernel to float32, by up to 2^-24 of each entry, while it looks for the dual and the bias.
  const double sums = at::matmul(problem.kernel.abs(), dual.abs()).max().item<double>();
  const double slack = options.tolerance + 2 * std::ldexp(sums, -24);
  REQUIRE((residual.masked_select(zero).abs() <= options.epsilon + slack).all().item<bool>());
  REQUIRE((residual.masked_select(bounded).abs() >= options.epsilon - slack).all().item<bool>());
  require_close(residual.masked_select(free), options.epsilon * dual.masked_select(free).sign(),
                slack / options.epsilon, "on the tube");
  REQUIRE(regression.support_vectors() == dual.ne(0).any(1).sum().item<int64_t>());
}

TEST_CASE("prediction is the expansion over support vectors", "[support_vector_regression]") {
  // Measured: the same bits where 1e-12 is allowed.
  const Problem problem = radial_problem();
  const SupportVectorRegression regression(problem.kernel, problem.targets);
  const at::Tensor rows = at::rand({5, 30}, generator(2), at::kDouble);
  require_close(regression.predict(rows), at::matmul(rows, regression.dual()) + regression.bias(), 1e-12, "prediction");
}

TEST_CASE("invalid arguments of the regression are errors", "[support_vector_regression]") {
  const Problem problem = radial_problem();
  require_error([&] { SupportVectorRegression(problem.kernel.slice(0, 0, 5), problem.targets); }, {"kernel", "[N, N]"});
  require_error([&] { SupportVectorRegression(problem.kernel.to(at::kFloat), problem.targets); },
                {"kernel", "float64"});
  require_error([&] { SupportVectorRegression(problem.kernel, problem.targets.slice(0, 1)); }, {"targets", "30"});
  require_error([&] { SupportVectorRegression(problem.kernel / 0.0, problem.targets); }, {"kernel must be finite"});
  require_error([&] { SupportVectorRegression(problem.kernel, problem.targets, {.cost = 0}); }, {"cost"});
  require_error([&] { SupportVectorRegression(problem.kernel, problem.targets, {.epsilon = -1}); }, {"epsilon"});
  require_error([&] { SupportVectorRegression(problem.kernel, problem.targets, {.tolerance = 0}); }, {"tolerance"});
  const SupportVectorRegression regression(problem.kernel, problem.targets);
  require_error([&] { regression.predict(at::zeros({3, 5}, at::kDouble)); }, {"rows", "30"});
}

}  // namespace geosft::test::test_support_vector_regression
