// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/subject.h"

#include "tests/tools/scene/looked_at.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_subject {

TEST_CASE("a subject knows what its model has") {
  const view::Subject bare = random_gallery(false)->get(0, false), explained = random_gallery(true)->get(0, false);
  CHECK(bare.layers() == 0);
  CHECK(bare.heads() == 0);
  CHECK_FALSE(bare.head_samples());
  CHECK(explained.layers() == 2);
  CHECK(explained.heads() == 4);
  CHECK(explained.head_samples());
  CHECK_FALSE(explained.is_graph());
}

}  // namespace geosft::test::test_subject
