// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_subset.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "data/points/array_dataset.h"
#include "tests/support.h"

namespace geosft::test::test_point_subset {

namespace {

// 20 clouds of class a, 10 of class b.
ArrayDataset example() {
  CloudArrays arrays;
  arrays.points = at::randn({30, 4, 3}, test::generator(1));
  arrays.labels = (at::arange(30) >= 20).to(at::kLong);
  for (int64_t i = 0; i < 30; ++i) arrays.names.push_back(std::to_string(i));
  return ArrayDataset(arrays, {"a", "b"}, "example");
}

}  // namespace

TEST_CASE("a subset hands out the rows it was given") {
  const ArrayDataset whole = example();
  const PointSubset subset(whole, {25, 3});
  CHECK(subset.size() == 2);
  CHECK(subset.get(0).name == "25");
  CHECK(subset.label(0) == 1);
  CHECK(subset.label(1) == 0);
  CHECK(subset.class_names() == whole.class_names());
  CHECK_FALSE(subset.has_normals());
  CHECK_THROWS_AS(subset.get(2), std::out_of_range);
  CHECK_THROWS_AS(PointSubset(whole, {30}), std::out_of_range);
  CHECK_THROWS_AS(PointSubset(whole, {-1}), std::out_of_range);
}

TEST_CASE("a stratified split takes the same share of every class") {
  const ArrayDataset whole = example();
  const auto [first, second] = stratified_split(whole, 0.2, 1);
  CHECK(std::count_if(second.begin(), second.end(), [](int64_t row) { return row < 20; }) == 4);
  CHECK(std::count_if(second.begin(), second.end(), [](int64_t row) { return row >= 20; }) == 2);
  std::vector<int64_t> all = first;
  all.insert(all.end(), second.begin(), second.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < 30; ++i) CHECK(all.at(i) == static_cast<int64_t>(i));
  CHECK(std::is_sorted(first.begin(), first.end()));
  CHECK(std::is_sorted(second.begin(), second.end()));
  CHECK(stratified_split(whole, 0.2, 1).second == second);
  CHECK(stratified_split(whole, 0.2, 2).second != second);
}

}  // namespace geosft::test::test_point_subset
