// SPDX-License-Identifier: Apache-2.0
#include "models/ops/seeded_dropout.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <limits>

#include "geometry/operators.h"
#include "models/ops/cpu/simd.h"
#include "models/ops/dropout_mask.h"
#include "tests/support.h"

namespace geosft::test::test_seeded_dropout {
namespace {

at::Tensor seed(int64_t number) {
  return at::tensor({number}, at::kLong);
}

}  // namespace

TEST_CASE("dropout keeps the right share and the mean") {
  const at::Tensor x = at::ones({1000, 257});
  const at::Tensor y = seeded_dropout(x, 0.25, seed(7));
  const double zeros = (y == 0).to(at::kDouble).mean().item<double>();
  REQUIRE(std::abs(zeros - 0.25) < 0.005);
  REQUIRE(std::abs(y.to(at::kDouble).mean().item<double>() - 1.0) < 0.01);
  REQUIRE(((y == 0) | (y == y.max())).all().item<bool>());
  REQUIRE_FALSE(at::equal(y, seeded_dropout(x, 0.25, seed(8))));
}

TEST_CASE("dropout has the mask of its definition on every vector target") {
  const int64_t count = 1001, first = 6;
  const DropoutScale scale = dropout_scale(0.3);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const at::Tensor x = at::randn({count}, test::generator(6), at::kDouble).to(type);
    at::Tensor expected = x * at::scalar_tensor(scale.kept, type);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t bits = dropout_bits(13, static_cast<uint64_t>((first + i) / kDropoutLanes));
      if (dropped(bits, (first + i) % kDropoutLanes, scale.threshold)) expected[i] = 0;
    }
    for (const std::string& target : simd_target_names()) {
      force_simd_target(target);
      test::require_equal(seeded_dropout(x, 0.3, seed(13), first), expected, target);
    }
    force_simd_target("");
  }
}

TEST_CASE("dropout has the same bits on any number of threads") {
  const at::Tensor x = at::rand({123457}, test::generator(3));
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = seeded_dropout(x, 0.5, seed(11));
  at::set_num_threads(2);
  const at::Tensor two = seeded_dropout(x, 0.5, seed(11));
  at::set_num_threads(threads);
  REQUIRE(at::equal(one, two));
}

TEST_CASE("the gradient of dropout is its mask") {
  test::require_gradcheck([](const std::vector<at::Tensor>& in) { return seeded_dropout(in[0], 0.4, seed(5)); },
                          {at::randn({7, 9}, test::generator(1), at::kDouble)});
}

TEST_CASE("parts of a tensor lose the elements that the whole loses") {
  const at::Tensor x = at::rand({40001}, test::generator(4), at::kDouble) + 1;
  const at::Tensor whole = seeded_dropout(x, 0.3, seed(9));
  for (const int64_t first : {0, 1, 6, 8, 33333, 39998, 40001}) {
    const at::Tensor part = x.slice(0, first).clone().requires_grad_(true);
    const at::Tensor dropped = seeded_dropout(part, 0.3, seed(9), first);
    test::require_equal(dropped.detach(), whole.slice(0, first), "from " + std::to_string(first));
    dropped.sum().backward();
    test::require_equal(part.grad() == 0, whole.slice(0, first) == 0, "gradient from " + std::to_string(first));
  }
  test::require_error([&] { seeded_dropout(x, 0.3, seed(9), -1); }, {"first", "-1"});
}

TEST_CASE("dropout of nothing, of a strided tensor, and with a bad probability") {
  const at::Tensor x = at::rand({4, 6}, test::generator(2));
  REQUIRE(at::equal(seeded_dropout(x, 0.0, seed(1)), x));
  REQUIRE(at::equal(seeded_dropout(x.t(), 0.3, seed(1)), seeded_dropout(x.t().contiguous(), 0.3, seed(1))));
  REQUIRE(seeded_dropout(at::empty({0}), 0.3, seed(1)).numel() == 0);
  test::require_error([&] { seeded_dropout(x, 1.0, seed(1)); }, {"probability"});
}

TEST_CASE("the operator behind dropout checks what it is called with") {
  const auto op = find_operator<at::Tensor(const at::Tensor&, double, const at::Tensor&, int64_t)>("_seeded_dropout");
  const at::Tensor x = at::ones({10});
  CHECK(at::equal(op.call(x, 0.3, seed(1), 5), seeded_dropout(x, 0.3, seed(1), 5)));
  for (const double probability : {-0.1, 1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    require_error([&] { op.call(x, probability, seed(1), 0); }, {"probability must be in [0, 1)"});
  }
  for (const int64_t first :
       {int64_t{-1}, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max() - 9}) {
    require_error([&] { op.call(x, 0.3, seed(1), first); }, {"first must be 0 or more", std::to_string(first)});
  }
  require_error([&] { op.call(x, 0.3, at::zeros({2}, at::kLong), 0); }, {"seed", "one element", "[2]"});
  require_error([&] { op.call(x, 0.3, at::zeros({1}), 0); }, {"seed must be int64", "Float"});
}

}  // namespace geosft::test::test_seeded_dropout
