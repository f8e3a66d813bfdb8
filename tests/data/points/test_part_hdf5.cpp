// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <catch2/catch.hpp>

#include "tests/data/points/part_files.h"

namespace geosft::test::test_part_hdf5 {
namespace {

// ShapeNetPart's own form: lists, a validation split, no normals, no names of parts.
void write_shapenet_hdf5(const std::filesystem::path& folder) {
  std::string classes;
  for (const ShapeNetPartClass& one : shapenet_part_classes()) {
    classes += std::string(one.name) + "\t" + one.synset + "\n";
  }
  write_text(folder / "all_object_categories.txt", classes);
  for (const char* split : {"train", "val", "test"}) {
    const std::string name = std::string("ply_data_") + split + "0.h5";
    write_text(folder / (std::string(split) + "_hdf5_file_list.txt"), "hdf5_data/" + name + "\n");
    PartClouds clouds(2, 8, 3);
    clouds.labels = at::full({2}, 5, at::kLong);  // Earphone: parts 16 to 18
    clouds.parts = 16 + at::arange(16, at::kLong).view({2, 8}) % 3;
    write_hdf5(folder / name, clouds.arrays(/*with_normals=*/false));
  }
}

}  // namespace

TEST_CASE("part HDF5: a set with names of its own") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_part_hdf5(folder.path()));
  write_part_set(folder.path());
  CHECK(is_part_hdf5(folder.path()));
  CHECK_FALSE(part_hdf5_has_split(folder.path(), PartSplit::validation));
  CHECK(part_hdf5_has_split(folder.path(), PartSplit::train_and_validation));
  const auto train = open_part_hdf5(folder.path(), PartSplit::train_and_validation);
  const auto test = open_part_hdf5(folder.path(), PartSplit::test);
  CHECK(train->size() == 6);
  CHECK(test->size() == 4);
  CHECK(test->class_names() == std::vector<std::string>{"lamp", "mug"});
  CHECK(test->parts()[4] == ShapePart{"base", 1});
  CHECK(test->has_normals());
  const PartClouds written(4, 64, 5);
  for (int64_t i = 0; i < 4; ++i) {
    const Shape shape = test->get(i);
    require_equal(shape.points, written.points[i], "points in the order of the file");
    require_equal(shape.parts, written.parts[i], "parts in the order of the file");
    CHECK(shape.label == i % 2);
    CHECK(test->label(i) == i % 2);
  }
  require_error([&] { open_part_hdf5(folder.path(), PartSplit::validation); }, {"val_hdf5_file_list.txt", "none"});
}

TEST_CASE("part HDF5: ShapeNetPart's own files") {
  const TemporaryFolder folder;
  write_shapenet_hdf5(folder.path());
  CHECK(part_hdf5_has_split(folder.path(), PartSplit::validation));
  CHECK(open_part_hdf5(folder.path(), PartSplit::train)->size() == 2);
  CHECK(open_part_hdf5(folder.path(), PartSplit::validation)->get(0).name == "ply_data_val0:0");
  CHECK(open_part_hdf5(folder.path(), PartSplit::validation)->name(0) == "ply_data_val0:0");
  const auto both = open_part_hdf5(folder.path(), PartSplit::train_and_validation);
  CHECK(both->size() == 4);
  CHECK_FALSE(both->has_normals());
  CHECK(both->class_names()[5] == "Earphone");
  CHECK(both->get(3).parts.max().item<int64_t>() == 18);
}

TEST_CASE("part HDF5: clouds without parts are read, and those that need parts are told") {
  const TemporaryFolder folder;
  write_part_set(folder.path());
  std::map<std::string, at::Tensor> arrays = PartClouds(3, 64, 1).arrays();
  arrays.erase("pid");
  write_hdf5(folder / "ply_data_test0.h5", arrays);
  const auto bare = open_part_hdf5(folder.path(), PartSplit::test);
  REQUIRE(bare->size() == 3);
  CHECK_FALSE(bare->get(1).parts.defined());
  CHECK(bare->get(1).label == 1);
  CHECK_FALSE(bare->has_parts());
  CHECK(bare->warnings().empty());
  require_error([&] { bare->count_parts(); }, {folder.path().string(), "an array pid", "none"});
  CHECK(open_part_hdf5(folder.path(), PartSplit::train)->has_parts());
  write_hdf5(folder / "ply_data_test1.h5", PartClouds(2, 64, 3).arrays());  // parts in some files of a split alone
  require_error([&] { open_part_hdf5(folder.path(), PartSplit::test); }, {"ply_data_test1.h5", "with parts"});
}

TEST_CASE("part HDF5: points without a label are kept, and counted apart") {
  const TemporaryFolder folder;
  write_part_set(folder.path());
  const PartClouds clouds = PartClouds(4, 63, 1).remove_labels();
  write_hdf5(folder / "ply_data_test0.h5", clouds.arrays());
  const auto test = open_part_hdf5(folder.path(), PartSplit::test);
  for (int64_t i = 0; i < 4; ++i) require_equal(test->get(i).parts, clouds.parts[i], "parts");
  CHECK(test->has_parts());
  const LabelCounts counts = test->count_parts();
  for (int64_t part = 0; part < 5; ++part) {
    CHECK(counts.parts[part].item<int64_t>() == (clouds.parts == part).sum().item<int64_t>());
  }
  CHECK(counts.unlabelled == 63 + 3 * 21);
  CHECK(counts.unlabelled_clouds == 1);
}

TEST_CASE("part HDF5: broken sets") {
  const TemporaryFolder folder;
  write_part_set(folder.path());
  const std::filesystem::path file = folder / "ply_data_train0.h5";
  const auto fails = [&](const std::vector<std::string>& words) {
    require_error([&] { open_part_hdf5(folder.path(), PartSplit::train); }, words);
  };
  PartClouds clouds(3, 8, 1);
  clouds.parts[2][4] = 3;  // a mug's part in a lamp
  write_hdf5(file, clouds.arrays());
  fails({"parts of lamp in ply_data_train0:2", "part 3"});
  clouds.parts[1][0] = 7;
  write_hdf5(file, clouds.arrays());
  fails({"parts from 0 to 4 in ply_data_train0:1, or -1 without a label", "part 7"});
  clouds.parts[0][3] = -2;
  write_hdf5(file, clouds.arrays());
  fails({"parts from 0 to 4 in ply_data_train0:0", "part -2"});
  clouds.parts = PartClouds(3, 8, 1).parts;
  clouds.parts[2][1] = 255;  // what -1 becomes as uint8
  write_hdf5(file, clouds.arrays());
  fails({file.string() + ":pid: expected parts from 0 to 4, or -1 without a label",
         "part 255, the maximum of its unsigned type: -1 needs a signed type"});
  std::map<std::string, at::Tensor> arrays = clouds.arrays();
  arrays["pid"] = clouds.parts;
  write_hdf5(file, arrays);
  fails({"parts from 0 to 4 in ply_data_train0:2", "part 255"});
  write_text(file, "no HDF5");
  fails({"ply_data_train0.h5"});
  std::filesystem::remove(file);
  fails({"ply_data_train*.h5", "none"});
  write_text(folder / "parts.txt", "0 lamp top\n");
  write_hdf5(file, PartClouds(3, 8, 1).arrays());
  fails({"parts.txt", "a part of mug"});
}

}  // namespace geosft::test::test_part_hdf5
