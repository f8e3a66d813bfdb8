// SPDX-License-Identifier: Apache-2.0
#include "geometry/small_cloud_search.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "geometry/knn.h"
#include "tests/geometry/uniform_cloud.h"
#include "tests/support.h"

namespace geosft::test::test_small_cloud_search {
namespace {

// All distances of a query, stably sorted: ties stay in the order of the rows.
template <typename T>
std::vector<std::pair<T, int64_t>> sorted_distances(const at::Tensor& points, const T* query) {
  std::vector<std::pair<T, int64_t>> all;
  const T* p = points.const_data_ptr<T>();
  for (int64_t row = 0; row < points.size(0); ++row, p += 3) {
    const T dx = query[0] - p[0], dy = query[1] - p[1], dz = query[2] - p[2];
    all.emplace_back(dx * dx + dy * dy + dz * dz, row);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Returns how many queries are left to another search; those that are not have the nearest rows, bit by bit.
template <typename T>
int64_t require_nearest(const at::Tensor& points, const at::Tensor& queries, int64_t k) {
  REQUIRE(SmallCloud<T>::suits(points.size(0), k));
  SmallCloud<T> cloud;
  cloud.assign(points.const_data_ptr<T>(), points.size(0), k);
  std::vector<int64_t> rows(static_cast<size_t>(k));
  std::vector<T> dist2(static_cast<size_t>(k));
  int64_t left = 0;
  for (int64_t q = 0; q < queries.size(0); ++q) {
    const T* const query = queries.const_data_ptr<T>() + 3 * q;
    if (!cloud.search(query, rows.data(), dist2.data())) {
      ++left;
      continue;
    }
    const auto expected = sorted_distances(points, query);
    for (size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(rows[i] == expected[i].second);
      REQUIRE(dist2[i] == expected[i].first);
    }
  }
  return left;
}

template <typename T>
constexpr at::ScalarType type_of = c10::CppTypeToScalarType<T>::value;

}  // namespace

TEMPLATE_TEST_CASE("small clouds: the nearest points, in order", "[knn]", float, double) {
  const int64_t count = GENERATE(40, 129, 256, 1000), k = GENERATE(1, 8, 20);
  const at::Tensor points = uniform(count, type_of<TestType>, 1);
  CHECK(require_nearest<TestType>(points, points, k) == 0);
  require_nearest<TestType>(points, uniform(50, type_of<TestType>, 2) * 3 - 1, k);  // far ones may be left
}

TEMPLATE_TEST_CASE("small clouds: ties go to the lowest row, or are left to another search", "[knn]", float, double) {
  const at::Tensor grid = (uniform(600, type_of<TestType>, 3) * 6).floor();
  require_nearest<TestType>(grid, grid, 8);
  const at::Tensor equal = at::ones({90, 3}, type_of<TestType>);
  CHECK(require_nearest<TestType>(equal, equal, 8) == 90);
  const at::Tensor pairs = uniform(100, type_of<TestType>, 4).repeat({2, 1});
  CHECK(require_nearest<TestType>(pairs, pairs, 7) == 0);
}

TEMPLATE_TEST_CASE("small clouds: far out and tiny", "[knn]", float, double) {
  const double largest = sizeof(TestType) == 4 ? 1e38 : 1e307, smallest = sizeof(TestType) == 4 ? 1e-22 : 1e-160;
  const at::Tensor cloud = uniform(200, type_of<TestType>, 5) - 0.5;
  for (const double scale : {largest, smallest, 1e-3, 1e3}) require_nearest<TestType>(cloud * scale, cloud * scale, 9);
  require_nearest<TestType>(cloud, cloud * largest, 9);
}

TEST_CASE("small clouds: knn takes items with and without a tree", "[knn]") {
  const at::Tensor points = uniform(4000, at::kDouble, 6), ptr = at::tensor({0, 10, 266, 3000, 3300, 4000}, at::kLong);
  const auto [index, dist2] = knn(points, points, 32, ptr, ptr);
  for (int64_t item = 0; item + 1 < ptr.size(0); ++item) {
    const int64_t begin = ptr[item].item<int64_t>(), end = ptr[item + 1].item<int64_t>();
    const at::Tensor mine = points.slice(0, begin, end).contiguous();
    for (int64_t q = begin; q < end; q += 7) {
      const auto expected = sorted_distances(mine, points.const_data_ptr<double>() + 3 * q);
      for (int64_t i = 0; i < std::min<int64_t>(32, end - begin); ++i) {
        REQUIRE(index[q][i].item<int64_t>() == begin + expected[static_cast<size_t>(i)].second);
        REQUIRE(dist2[q][i].item<double>() == expected[static_cast<size_t>(i)].first);
      }
    }
  }
}

}  // namespace geosft::test::test_small_cloud_search
