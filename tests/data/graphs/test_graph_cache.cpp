// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_cache.h"

#include <catch2/catch.hpp>

#include "tests/data/damaged_cache.h"
#include "tests/data/graphs/graphs.h"
#include "tests/data/graphs/small_graphs.h"

namespace geosft::test::test_graph_cache {

TEST_CASE("the graph cache gives back what was stored under the same key") {
  const TemporaryFolder folder;
  const GraphCache cache(folder / "deep/er");
  CHECK_FALSE(cache.load("set", "key"));
  REQUIRE(cache.store("set", "key", small_graphs()));
  const auto packed = cache.load("set", "key");
  REQUIRE(packed);
  require_same(*packed, small_graphs());
  CHECK_FALSE(cache.load("set", "another key"));
  CHECK_FALSE(cache.load("another set", "key"));
}

TEST_CASE("a damaged or half-written file of the graph cache counts as absent and can be replaced") {
  require_damage_is_absence<GraphCache>(small_graphs(), [](const std::string&) { return std::string("text"); });
}

TEST_CASE("a graph cache that cannot be written to says so") {
  require_unwritable_is_said<GraphCache>(small_graphs());
}

TEST_CASE("graphs are made once, and always where nothing can be kept") {
  const TemporaryFolder folder;
  write_text(folder / "file", "no folder");
  int made = 0;
  const auto make = [&] {
    ++made;
    return small_graphs();
  };
  for (int i = 0; i < 2; ++i) require_same(cached_graphs({folder / "cache"}, "set", "key", make), small_graphs());
  CHECK(made == 1);
  for (int i = 0; i < 2; ++i) require_same(cached_graphs({folder / "file"}, "set", "key", make), small_graphs());
  CHECK(made == 3);
}

}  // namespace geosft::test::test_graph_cache
