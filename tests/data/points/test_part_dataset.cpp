// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_dataset.h"

#include <catch2/catch.hpp>

#include "data/points/point_dataset.h"
#include "data/points/point_loader.h"
#include "tests/data/points/part_files.h"

namespace geosft::test::test_part_dataset {
namespace {

struct CountedReads : PointSubset {
  using PointSubset::PointSubset;
  Shape get(int64_t index) const override {
    ++reads;
    return PointSubset::get(index);
  }
  mutable int64_t reads = 0;
};

}  // namespace

TEST_CASE("part dataset: what lies in a folder decides the reader") {
  const TemporaryFolder folder;
  write_part_set(folder / "hdf5");
  write_shapenet_text(folder / "text");
  write_older_shapenet_text(folder / "older");
  write_labelled_tree(folder / "tree");
  CHECK(open_part_dataset(folder / "hdf5", PartSplit::test)->parts().size() == 5);
  CHECK(open_part_dataset(folder / "text", PartSplit::test)->has_normals());
  CHECK_FALSE(open_part_dataset(folder / "older", PartSplit::test)->has_normals());
  CHECK((has_split(folder / "hdf5", PartSplit::train) && has_split(folder / "hdf5", PartSplit::test)));
  CHECK_FALSE(has_split(folder / "hdf5", PartSplit::validation));
  CHECK(has_split(folder / "text", PartSplit::validation));
  CHECK(open_part_dataset(folder / "tree", PartSplit::test)->size() == 2);
  CHECK((has_split(folder / "tree", PartSplit::train) && has_split(folder / "tree", PartSplit::test)));
  CHECK_FALSE(has_split(folder / "tree", PartSplit::validation));
  CHECK(part_read_option_use(folder / "tree").columns);
  CHECK_FALSE(has_split(folder / "absent", PartSplit::test));
  // Of files in folders of classes the labels of the first one tell whether they are a set of parts.
  write_text(folder / "classes/cup/a.xyz", "0 0 0\n");
  for (const char* name : {"hdf5", "text", "older", "tree"}) CHECK(has_part_labels(folder / name));
  for (const char* name : {"classes", "absent"}) CHECK_FALSE(has_part_labels(folder / name));
  CHECK(is_part_dataset(folder / "classes"));
  write_text(folder / "empty/readme.txt", "nothing");
  require_error([&] { open_part_dataset(folder / "empty", PartSplit::test); }, {"parts.txt", "none of these"});
  require_error([&] { open_part_dataset(folder / "absent", PartSplit::test); }, {"absent", "nothing of this name"});
  require_error([&] { open_part_dataset(folder / "empty/readme.txt", PartSplit::test); }, {"readme.txt", "a file"});
}

TEST_CASE("part dataset: batches and subsets carry the parts along") {
  const TemporaryFolder folder;
  write_part_set(folder.path());
  const auto train = open_part_dataset(folder.path(), PartSplit::train);
  const PointSubset some(*train, {4, 1});
  PointLoader loader(some, {.batch_size = 2});
  loader.start_epoch(0);
  const PointBatch batch = loader.next().value();
  require_equal(batch.parts, at::cat({train->get(4).parts, train->get(1).parts}), "parts");
  CHECK(batch.points.size(0) == batch.parts.size(0));
  CHECK_FALSE(batch.unlabelled);
  const auto shorten = [](Shape shape, at::Generator&) {
    shape.parts = shape.parts.slice(0, 1);
    return shape;
  };
  PointLoader broken(some, {.workers = 0, .transform = shorten});
  broken.start_epoch(0);
  require_error([&] { broken.next(); }, {"parts of", "int64 [64]"});
}

TEST_CASE("part dataset: classes without a shape and parts without a point are warnings") {
  const TemporaryFolder folder;
  write_part_set(folder / "all");
  const auto all = open_part_dataset(folder / "all", PartSplit::test);
  CHECK(empty_parts_warnings(*all, all->count_parts(), "all").empty());
  CHECK(all->count_parts().parts.sum().item<int64_t>() == 4 * 64);
  write_part_set(folder / "some", 6, 1);  // a lamp alone
  const auto some = open_part_dataset(folder / "some", PartSplit::test);
  LabelCounts counts = some->count_parts();
  CHECK(empty_parts_warnings(*some, counts, "some (test)") ==
        std::vector<std::string>{"some (test): 1 of 2 classes has no shape: mug"});
  counts.parts = counts.parts.clone();
  counts.parts[1] = 0;
  CHECK(empty_parts_warnings(*some, counts, "some (test)") ==
        std::vector<std::string>{"some (test): 1 of 2 classes has no shape: mug",
                                 "some (test): 1 of 5 parts has no point: lamp pole"});
  counts.unlabelled = 1;
  CHECK(empty_parts_warnings(*some, counts, "set").at(1) == "set: 1 of 5 parts has no labelled point: lamp pole");
  counts.parts = at::zeros_like(counts.parts);  // none of the points has a label, which another warning says
  CHECK(empty_parts_warnings(*some, counts, "set").size() == 1);
  CHECK(empty_parts_warnings(*some, {}, "some (test)").size() == 1);
  write_shapenet_text(folder / "text");
  const auto text = open_part_dataset(folder / "text", PartSplit::test);
  CHECK(text->count_parts().parts.sum().item<int64_t>() == text->get(0).points.size(0));
  CHECK_THAT(empty_parts_warnings(*text, {}, "text").at(0), Catch::StartsWith("text: 15 of 16 classes have no shape"));
}

TEST_CASE("part dataset: points without a label are told, and a split of such points alone is refused") {
  const TemporaryFolder folder;
  write_part_set(folder.path());
  const auto opened = [&](const PartClouds& clouds) {
    write_hdf5(folder / "ply_data_test0.h5", clouds.arrays());
    return open_part_dataset(folder.path(), PartSplit::test);
  };
  const auto warning = [](const PartDataset& set) { return unlabelled_warning(set.count_parts(), "set"); };
  PartClouds clouds(4, 63, 5);
  CHECK(warning(*opened(clouds)).empty());
  clouds.parts[2][7] = unlabelled_part;
  CHECK(warning(*opened(clouds)) == "set: 1 of 252 points has no label: losses and metrics leave them out");
  const auto some = opened(clouds.remove_labels());
  CHECK(warning(*some) ==
        "set: 127 of 252 points have no label, and 1 of 4 clouds has no labelled point: losses and metrics leave them "
        "out");
  CHECK(count_required_parts(*some, "set").unlabelled_clouds == 1);
  PointLoader loader(*some, {.batch_size = 2});
  loader.start_epoch(0);
  const PointBatch batch = loader.next().value();
  CHECK(batch.unlabelled);
  CHECK(micro_batch(batch, 1, 2).unlabelled);
  require_equal(batch.parts, at::cat({some->get(0).parts, some->get(1).parts}), "parts");
  clouds.parts.fill_(unlabelled_part);
  const auto none = opened(clouds);
  CHECK(warning(*none) == "set: none of its 252 points has a label: the parts can only be predicted");
  require_error([&] { count_required_parts(*none, "set"); }, {"set: expected a point with a label", "none among 252"});
  require_error([&] { count_required_parts(*none, "set", "label some"); }, {"none among 252: label some"});
}

TEST_CASE("part dataset: clouds without a labelled point are refused, and are read up to the first that has one") {
  const TemporaryFolder folder;
  write_part_set(folder.path());
  PartClouds clouds(4, 63, 5);
  clouds.parts.slice(0, 0, 2).fill_(unlabelled_part);
  write_hdf5(folder / "ply_data_test0.h5", clouds.arrays());
  const auto whole = open_part_dataset(folder.path(), PartSplit::test);
  const auto reads = [&](std::vector<int64_t> rows) {
    const CountedReads some(*whole, std::move(rows));
    require_labelled_cloud(some, "set", "clouds to train with", "label some");
    return some.reads;
  };
  CHECK(reads({2, 0, 1, 3}) == 1);
  CHECK(reads({1, 0, 3}) == 3);
  require_error(
      [&] {
        reads({1, 0});
      },
      {"set: expected a labelled point in the clouds to train with, found none: label some"});
}

TEST_CASE("part dataset: the Princeton parts") {
  const std::filesystem::path folder = real_data("psb_parts");
  if (folder.empty()) return;
  const auto train = open_part_dataset(folder, PartSplit::train), test = open_part_dataset(folder, PartSplit::test);
  CHECK(train->size() == 285);
  CHECK(test->size() == 95);
  CHECK(train->class_names().size() == 19);
  CHECK(train->parts().size() == 94);
  CHECK(train->has_normals());
  CHECK(train->get(284).points.sizes() == at::IntArrayRef{2048, 3});
}

}  // namespace geosft::test::test_part_dataset
