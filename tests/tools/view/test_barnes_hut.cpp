// SPDX-License-Identifier: Apache-2.0
#include "tools/view/barnes_hut.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace geosft::test::test_barnes_hut {
using namespace view;
namespace {

std::vector<Place> random_places(size_t count) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  std::vector<Place> places(count);
  for (Place& place : places) place = {10 * normal(generator), 5 + normal(generator), 3 * normal(generator)};
  return places;
}

Place slow_force(const std::vector<Place>& places, const Place& p, double floor) {
  Place force = {};
  for (const Place& q : places) {
    double squared = 0;
    for (size_t c = 0; c < 3; ++c) squared += (p[c] - q[c]) * (p[c] - q[c]);
    for (size_t c = 0; c < 3; ++c) force[c] += (p[c] - q[c]) / std::max(squared, floor);
  }
  return force;
}

double length(const Place& a) {
  return std::hypot(a[0], a[1], a[2]);
}

}  // namespace

TEST_CASE("the forces of an octree are those of all pairs, or near them") {
  const std::vector<Place> places = random_places(3000);
  const RepulsionTree exact(places, 0.0), fast(places, 1.2);
  double wrong = 0, all = 0;
  for (size_t i = 0; i < places.size(); i += 37) {
    const Place slow = slow_force(places, places[i], 1e-4), same = exact.force_on(places[i], 1e-4),
                near = fast.force_on(places[i], 1e-4);
    for (size_t c = 0; c < 3; ++c) CHECK(same[c] == Approx(slow[c]).margin(1e-9 * length(slow)));
    wrong += length({near[0] - slow[0], near[1] - slow[1], near[2] - slow[2]});
    all += length(slow);
  }
  CHECK(wrong < 0.08 * all);
  std::vector<int64_t> order = fast.order();
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) REQUIRE(order[i] == static_cast<int64_t>(i));
}

TEST_CASE("equal points, and points of one place, do no harm to an octree") {
  std::vector<Place> places(100, Place{1, 2, 3});
  const RepulsionTree equal(places, 1.0);
  CHECK(length(equal.force_on(places[0], 1e-4)) == 0);
  places.push_back({2, 2, 3});
  const RepulsionTree two(places, 0.0);
  CHECK(two.force_on({2, 2, 3}, 1e-4)[0] == Approx(100));
  CHECK(two.force_on({1, 2, 3}, 1e-4)[0] == Approx(-1));
}

}  // namespace geosft::test::test_barnes_hut
