// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>

#include "tests/data/files.h"

namespace geosft::test {

// Files of a cache that are damaged by `damage`, cut in half or empty must count as absent, and can be replaced.
template <class Cache, class Item, class Damage>
void require_damage_is_absence(const Item& item, const Damage& damage) {
  const TemporaryFolder folder;
  const Cache cache(folder.path());
  REQUIRE(cache.store("item", "key", item));
  const std::string whole = read_text(cache.file("item"));
  for (const std::string& contents : {damage(whole), whole.substr(0, whole.size() / 2), std::string()}) {
    write_text(cache.file("item"), contents);
    CHECK_FALSE(cache.load("item", "key"));
    CHECK(cache.store("item", "key", item));
    CHECK(cache.load("item", "key"));
  }
}

// A cache whose folder is empty, cannot be made or is a file must say that it keeps nothing.
template <class Cache, class Item>
void require_unwritable_is_said(const Item& item) {
  CHECK_FALSE(Cache("").store("item", "key", item));
  CHECK_FALSE(Cache("").load("item", "key"));
  CHECK_FALSE(Cache("/proc/geosft").store("item", "key", item));
  const TemporaryFolder folder;
  write_text(folder / "file", "no folder");
  CHECK_FALSE(Cache(folder / "file").store("item", "key", item));
}

}  // namespace geosft::test
