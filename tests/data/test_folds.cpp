// SPDX-License-Identifier: Apache-2.0
#include "data/folds.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>

#include "tests/support.h"

namespace geosft::test::test_folds {
using test::require_error;

TEST_CASE("stratified_folds: folds and labels within folds differ by one at most") {
  const at::Tensor labels = at::randint(0, 5, {187}, test::generator(1), at::kLong).square();
  const at::Tensor folds = stratified_folds(labels, 10, 3);
  const auto spread = [&](const at::Tensor& of_some) {
    const at::Tensor counts = at::bincount(of_some, {}, 10);
    return counts.max().item<int64_t>() - counts.min().item<int64_t>();
  };
  REQUIRE(spread(folds) <= 1);
  for (int64_t label : {0, 1, 4, 9, 16}) REQUIRE(spread(folds.masked_select(labels == label)) <= 1);
}

TEST_CASE("stratified_folds: a function of the seed") {
  const at::Tensor labels = at::arange(200, at::kLong) % 3;
  test::require_equal(stratified_folds(labels, 10, 7), stratified_folds(labels, 10, 7), "the same seed");
  REQUIRE_FALSE(at::equal(stratified_folds(labels, 10, 7), stratified_folds(labels, 10, 8)));
}

TEST_CASE("stratified_folds: bad arguments are refused by name") {
  const at::Tensor labels = at::zeros({5}, at::kLong);
  require_error([&] { stratified_folds(labels, 1, 0); }, {"folds", "1"});
  require_error([&] { stratified_folds(labels, 6, 0); }, {"folds", "5", "6"});
  require_error([&] { stratified_folds(labels.to(at::kFloat), 2, 0); }, {"labels", "Float"});
}

TEST_CASE("stratified_split: the same share of every label, every row once") {
  std::vector<int64_t> labels;
  for (int64_t row = 0; row < 50; ++row) labels.push_back(row < 30 ? 0 : 2);
  const auto [first, second] = stratified_split(labels, 0.2, 4);
  CHECK(second.size() == 10);
  CHECK(std::count_if(second.begin(), second.end(), [](int64_t row) { return row < 30; }) == 6);
  std::vector<int64_t> all;
  std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(all));
  for (int64_t row = 0; row < 50; ++row) CHECK(all[static_cast<size_t>(row)] == row);
  CHECK(stratified_split(labels, 0.2, 4).second == second);
  CHECK(stratified_split(labels, 0.2, 5).second != second);
  CHECK(stratified_split({}, 0.5, 0).first.empty());
  CHECK(stratified_split({int64_t{1} << 60, 3}, 1, 0).second.size() == 2);
  require_error([] { stratified_split({0, -1}, 0.5, 0); }, {"labels", "negative", "-1"});
  for (const double share : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    require_error([&] { stratified_split({0, 1}, share, 0); }, {"second_share", "from 0 to 1"});
  }
}

}  // namespace geosft::test::test_folds
