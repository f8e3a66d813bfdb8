// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/augmented_loader.h"

#include <catch2/catch.hpp>

#include "geometry/packed.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/experiment/cloud_transforms.h"

namespace geosft::test::test_augmented_loader {
namespace {

// Clouds of 5 to 64 points, with normals and parts.
class RaggedClouds : public PointDataset {
 public:
  int64_t size() const override { return 10; }
  Shape get(int64_t index) const override {
    const auto count = static_cast<int64_t>(5 + 37 * index % 60);
    Shape shape;
    shape.points = at::randn({count, 3}, generator(static_cast<uint64_t>(index)));
    shape.normals = at::randn({count, 3}, generator(static_cast<uint64_t>(index) + 100));
    shape.parts = at::arange(count, at::kLong) * 100 + index;
    shape.label = index % 3;
    shape.name = std::to_string(index);
    return shape;
  }
  int64_t label(int64_t index) const override { return index % 3; }
  const std::vector<std::string>& class_names() const override { return names_; }
  bool has_normals() const override { return true; }

 private:
  std::vector<std::string> names_{"a", "b", "c"};
};

struct Example {
  RaggedClouds clouds;
  CloudSettings settings{.points = 20};
  AugmentSettings augment{0.5, 2.0, 0.02, 0.1, Rotation::so3, 0.25};
  PointLoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 3};

  std::vector<PointBatch> batches(AugmentedBy by, int64_t epoch, int64_t first = 0) const {
    AugmentedLoader loader(clouds, options, settings, augment, at::kCPU, by);
    loader.start_epoch(epoch, first);
    std::vector<PointBatch> all;
    for (int64_t i = first; i < loader.batches_per_epoch(); ++i) {
      all.push_back(loader.next());
      REQUIRE(loader.last()->points.is_same(all.back().points));
    }
    return all;
  }
};

void require_same(const std::vector<PointBatch>& found, const std::vector<PointBatch>& expected,
                  const std::string& what) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto named = batch_tensors(found[i]), reference = batch_tensors(expected[i]);
    REQUIRE(named.size() == 6);
    for (const auto& [name, tensor] : reference) require_equal(named.at(name), tensor, what + " " + name);
  }
}

}  // namespace

TEST_CASE("a step that augments its clouds gets what the workers make of them") {
  Example example;
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    require_same(example.batches(AugmentedBy::step, epoch), example.batches(AugmentedBy::workers, epoch), "batch");
  }
  const std::vector<PointBatch> whole = example.batches(AugmentedBy::step, 1);
  require_same(example.batches(AugmentedBy::step, 1, 2), {whole[2]}, "resumed");
  CHECK_FALSE(at::equal(whole[0].points, example.batches(AugmentedBy::step, 0)[0].points));
  example.settings.normals = false;
  CHECK_FALSE(example.batches(AugmentedBy::step, 0)[0].normals.defined());
}

TEST_CASE("processes that share a batch see the clouds that one alone sees") {
  Example example;
  for (const AugmentedBy by : {AugmentedBy::step, AugmentedBy::workers}) {
    example.options.share = {};
    const std::vector<PointBatch> whole = example.batches(by, 0);
    std::vector<std::vector<PointBatch>> shares;
    for (int64_t part = 0; part < 2; ++part) {
      example.options.share = {part, 2};
      shares.push_back(example.batches(by, 0));
    }
    for (size_t i = 0; i < whole.size(); ++i) {
      require_equal(at::cat({shares[0][i].points, shares[1][i].points}), whole[i].points, "points");
      require_equal(at::cat({shares[0][i].parts, shares[1][i].parts}), whole[i].parts, "parts");
    }
  }
}

TEST_CASE("clouds are augmented by the settings of a tool, by the workers where there is no GPU") {
  CHECK(augmented_by(at::kCPU) == AugmentedBy::workers);
  CHECK(augmented_by(at::Device(at::kCUDA, 0)) == AugmentedBy::step);
  SegmentSettings settings = small_segment_settings();
  settings.seed = 3;
  settings.clouds.points = 20;
  settings.augment = {0.5, 2.0, 0.02, 0.1, Rotation::so3, 0.25};
  const Example example;
  AugmentedLoader loader(example.clouds, settings, one_process(), at::kCPU);
  CHECK(loader.batches_per_epoch() == 3);
  loader.start_epoch(0, 0);
  CHECK_FALSE(loader.last().has_value());
  std::vector<PointBatch> found;
  for (int64_t i = 0; i < 3; ++i) found.push_back(loader.next());
  require_same(found, example.batches(AugmentedBy::workers, 0), "batch");
  require_error([&] { loader.next(); }, {"the loader ended before the epoch did"});
}

}  // namespace geosft::test::test_augmented_loader
