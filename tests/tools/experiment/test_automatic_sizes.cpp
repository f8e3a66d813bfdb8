// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/automatic_sizes.h"

#include <catch2/catch.hpp>

#include "tools/experiment/classify_settings.h"
#include "tools/experiment/segment_settings.h"

namespace geosft::test::test_automatic_sizes {
namespace {

ClassifySettings small(int64_t clouds, const std::string& more = "") {
  ClassifySettings settings;
  settings.config().set_text(ClassifySettings::small_preset());
  settings.config().set_text(more);
  REQUIRE(settings.has_automatic());
  settings.check();
  settings.resolve(clouds, ClassifySettings::kSmallSizes);
  CHECK_FALSE(settings.has_automatic());
  return settings;
}

}  // namespace

TEST_CASE("sizes of a model and of its training fit the number of clouds") {
  const ClassifySettings furniture = small(301);
  CHECK((furniture.model.dim == 64 && furniture.model.num_heads == 4 && furniture.model.depth == 3));
  CHECK((furniture.model.sampling.num_samples == 32 && furniture.model.head_num_samples == 128 &&
         furniture.train.batch_size == 16));
  CHECK((furniture.train.epochs == 200 && furniture.train.optimization.average_decay == 0.995));
  const ClassifySettings few = small(12);
  CHECK((few.train.batch_size == 4 && few.train.epochs == 200 && few.train.optimization.average_decay == 0.967));
  const ClassifySettings many = small(9843);
  CHECK((many.model.dim == 128 && many.model.num_heads == 8 && many.model.depth == 4 &&
         many.model.sampling.num_samples == 64));
  CHECK((many.train.batch_size == 32 && many.train.epochs == 20));
  CHECK(small(1).train.batch_size == 4);
}

TEST_CASE("sizes that are given stay, and the others fit them") {
  const ClassifySettings wide = small(301, "[model]\ndim = 96\n[train]\nepochs = 3\n");
  CHECK((wide.model.dim == 96 && wide.model.num_heads == 6 && wide.train.epochs == 3));
  CHECK(wide.train.optimization.average_decay == 0.0);  // 57 steps
  CHECK(small(301, "[model]\ndim = 20\n").model.num_heads == 1);
}

TEST_CASE("what was chosen is said") {
  SegmentSettings settings;
  settings.config().set_text(SegmentSettings::small_preset());
  const std::string text = settings.resolve(285, SegmentSettings::kSmallSizes);
  CHECK(text == "dim 64, num_heads 4, depth 3, num_samples 64, batch_size 8, epochs 112, ema_decay 0.995");
  CHECK(settings.resolve(285, SegmentSettings::kSmallSizes).empty());
}

TEST_CASE("as many heads as divide the width and leave each its channels") {
  CHECK(heads_of(64, 16) == 4);
  CHECK(heads_of(64, 8) == 8);
  CHECK(heads_of(96, 40) == 2);
  CHECK(heads_of(50, 16) == 2);
  CHECK(heads_of(7, 16) == 1);
}

}  // namespace geosft::test::test_automatic_sizes
