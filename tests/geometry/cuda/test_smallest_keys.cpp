// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/smallest_keys.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "tests/geometry/cuda/emulated_block.h"

namespace geosft::test::test_smallest_keys {
namespace {

struct Choice {
  const uint64_t* given;
  uint64_t* keys;
  int64_t count, k;
  int64_t* taken;
};

struct ChoiceKernel {
  static constexpr int kBlockThreads = 64;
  using Keys = cuda::SmallestKeys<kBlockThreads>;
  using Arguments = Choice;

  template <class Block>
  static void run(Block& block, const Choice& in) {
    auto& tiles = block.template shared<Keys::Tiles>();
    Keys::run(
        block, tiles, in.count, in.k, in.keys, [&](int64_t place) { return in.given[place]; },
        [&](int64_t place, int64_t rank) { in.taken[rank] = place; });
  }
};

template <ThreadOrder kOrder>
std::vector<int64_t> emulated(const std::vector<uint64_t>& keys, int64_t k) {
  std::vector<uint64_t> memory(keys.size());
  std::vector<int64_t> taken(static_cast<size_t>(k), -1);
  EmulatedGrids<kOrder>().template grid<ChoiceKernel>(
      1, 1, {keys.data(), memory.data(), static_cast<int64_t>(keys.size()), k, taken.data()});
  return taken;
}

std::vector<int64_t> sorted(const std::vector<uint64_t>& keys, int64_t k) {
  std::vector<int64_t> places(keys.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(),
                   [&](int64_t a, int64_t b) { return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)]; });
  places.resize(static_cast<size_t>(k));
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

TEST_CASE("the smallest keys are chosen in the order of their places, of equal keys the first", "[smallest_keys]") {
  std::mt19937_64 random(7);
  // Bounds of the keys: hardly any equal, many, all, and the two ends of the range.
  for (const uint64_t bound : {~uint64_t{0}, uint64_t{5}, uint64_t{1}}) {
    for (const int64_t count : {1, 2, 63, 64, 65, 200, 1000}) {
      std::vector<uint64_t> keys(static_cast<size_t>(count));
      for (uint64_t& key : keys) key = random() % bound;
      keys.back() = ~uint64_t{0};
      for (const int64_t k : {int64_t{0}, int64_t{1}, count / 3, count - 1, count}) {
        const std::vector<int64_t> expected = sorted(keys, k);
        REQUIRE(emulated<ThreadOrder::kAscending>(keys, k) == expected);
        REQUIRE(emulated<ThreadOrder::kDescending>(keys, k) == expected);
      }
    }
  }
}

}  // namespace geosft::test::test_smallest_keys
