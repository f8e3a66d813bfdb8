// SPDX-License-Identifier: Apache-2.0
#include "tools/common/nearest_name.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_nearest_name {

TEST_CASE("the edit distance counts insertions, deletions, substitutions and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("epohcs", "epochs") == 1);
  CHECK(edit_distance("layers", "layers") == 0);
}

TEST_CASE("the nearest name is the closest one, the first of equals, or nothing") {
  CHECK(nearest_name("learning_rte", {"layers", "learning_rate", "warmup"}) == "learning_rate");
  CHECK(nearest_name("b", {"a", "c"}) == "a");
  CHECK(nearest_name("anything", {}).empty());
  CHECK(nearest_name(std::string(100000000, 'b'), {"a", "b"}) == "b");  // the beginning counts
}

}  // namespace geosft::test::test_nearest_name
