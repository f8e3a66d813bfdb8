// SPDX-License-Identifier: Apache-2.0
#include "data/seeds.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <set>

#include "tests/support.h"

namespace geosft::test::test_seeds {

TEST_CASE("combined seeds differ by every number and by their order") {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 30; ++a) {
    for (uint64_t b = 0; b < 30; ++b) seen.insert(combine_seeds({a, b}));
  }
  CHECK(seen.size() == 900);
  CHECK(combine_seeds({1, 2}) != combine_seeds({2, 1}));
  CHECK(combine_seeds({1}) != combine_seeds({1, 0}));
}

TEST_CASE("text_hash is FNV-1a") {
  // Published test values of the 64-bit variant.
  CHECK(text_hash("") == 0xcbf29ce484222325u);
  CHECK(text_hash("a") == 0xaf63dc4c8601ec8cu);
  CHECK(text_hash("foobar") == 0x85944171f73967e8u);
}

TEST_CASE("make_generator starts from its seed") {
  const at::Tensor first = at::rand({5}, make_generator(7));
  test::require_equal(at::rand({5}, make_generator(7)), first, "same seed");
  CHECK_FALSE(at::equal(at::rand({5}, make_generator(8)), first));
}

}  // namespace geosft::test::test_seeds
