// SPDX-License-Identifier: Apache-2.0
#include "models/random_forest.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_random_forest {
namespace {

// Two trees of one label: the first divides by column 0 at 0.5, and its right child by column 1 at 1; the second is a
// leaf.
std::map<std::string, at::Tensor> example_state() {
  return {{"feature", at::tensor({0, -1, 1, -1, -1, -1}, at::kInt)},
          {"left", at::tensor({1, 0, 3, 0, 0, 0}, at::kInt)},
          {"value", at::tensor({0.5, 0.0, 1.0, 0.25, 1.0, 0.5}, at::kFloat)},
          {"zero_right", at::tensor({1, 0, 0, 0, 0, 0}, at::kByte)},
          {"roots", at::tensor({0, 5}, at::kLong).view({1, 2})},
          {"share", at::tensor({0.4}, at::kDouble)},
          {"columns", at::scalar_tensor(2, at::kLong)}};
}

}  // namespace

TEST_CASE("rows take the path of their features, and those of 0 the side of the node") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor features =
      at::tensor({0.4, 2.0, 0.5, 2.0, 0.6, 0.9, 0.6, 0.0, nan, 3.0, 0.0, 3.0}, at::kDouble).view({6, 2});
  const double leaves[] = {0.0, 1.0, 0.25, 0.25, 1.0, 1.0};  // smaller goes left, equal right
  const RandomForest forest = RandomForest::from_state(example_state());
  const at::Tensor logits = forest.predict(features);
  REQUIRE(logits.sizes() == at::IntArrayRef({6, 1}));
  for (int64_t row = 0; row < 6; ++row) {
    const double p = (leaves[row] + 0.5 + 0.4) / 3;
    CHECK(logits[row][0].item<double>() == Approx(std::log(p / (1 - p))).epsilon(1e-12));
  }
  require_error([&] { forest.predict(features.narrow(1, 0, 1)); }, {"features", "2 columns"});
}

TEST_CASE("a damaged state of a random forest is refused and named") {
  for (const auto& [name, tensor] : example_state()) {
    INFO(name);
    std::map<std::string, at::Tensor> without = example_state();
    without.erase(name);
    require_error([&] { RandomForest::from_state(without); }, {"lacks " + name});
    std::map<std::string, at::Tensor> other = example_state();
    other[name] = tensor.to(at::kHalf);
    require_error([&] { RandomForest::from_state(other); }, {"wrong " + name});
  }
  const auto refuses = [](const char* name, const at::Tensor& wrong) {
    INFO(name);
    std::map<std::string, at::Tensor> state = example_state();
    state[name] = wrong;
    require_error([&] { RandomForest::from_state(state); }, {std::string("wrong ") + name});
  };
  refuses("left", at::tensor({1, 0, 5, 0, 0, 0}, at::kInt));  // its right child would be beyond the nodes
  refuses("left", at::tensor({1, 0, 2, 0, 0, 0}, at::kInt));  // a circle
  refuses("left", at::tensor({1, 0}, at::kInt));
  refuses("feature", at::tensor({0, -1, 2, -1, -1, -1}, at::kInt));
  refuses("feature", at::tensor({0, -1, -2, -1, -1, -1}, at::kInt));
  refuses("roots", at::tensor({0, 6}, at::kLong).view({1, 2}));
  refuses("roots", at::tensor({-1, 5}, at::kLong).view({1, 2}));
  refuses("roots", at::zeros({1, 0}, at::kLong));
  refuses("value", at::tensor({0.5, 2.0, 1.0, 0.25, 1.0, 0.5}, at::kFloat));
  refuses("value", at::tensor({0.5, NAN, 1.0, 0.25, 1.0, 0.5}, at::kFloat));
  refuses("value", at::tensor({0.5}, at::kFloat));
  refuses("zero_right", at::zeros({1}, at::kByte));
  refuses("share", at::tensor({1.0}, at::kDouble));
  refuses("share", at::tensor({0.5, 0.5}, at::kDouble));
  refuses("columns", at::scalar_tensor(0, at::kLong));
}

}  // namespace geosft::test::test_random_forest
