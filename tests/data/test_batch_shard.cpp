// SPDX-License-Identifier: Apache-2.0
#include "data/batch_shard.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_batch_shard {

TEST_CASE("shares of a batch follow each other, none twice and none left out") {
  for (int64_t parts = 1; parts <= 9; ++parts) {
    for (int64_t all = 1; all <= 20; ++all) {
      int64_t next = 0;
      for (int64_t part = 0; part < parts; ++part) {
        const BatchSlice place = batch_slice({part, parts}, all);
        REQUIRE(place.all == all);
        REQUIRE((place.count >= 1 && place.first >= 0 && place.first + place.count <= all));
        if (place.spare) {
          REQUIRE((place.count == 1 && all < parts));
          continue;
        }
        REQUIRE(place.first == next);
        REQUIRE((place.count == all / parts || place.count == (all + parts - 1) / parts));
        next += place.count;
      }
      REQUIRE(next == all);
    }
  }
}

TEST_CASE("shares that there are not are refused") {
  for (const BatchShard share : {BatchShard{-1, 2}, {2, 2}, {0, 0}}) {
    require_error([&] { batch_slice(share, 4); }, {"part", std::to_string(share.part)});
  }
  require_error([] { batch_slice({}, 0); }, {"batch", "0"});
}

}  // namespace geosft::test::test_batch_shard
