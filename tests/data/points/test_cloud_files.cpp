// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <catch2/catch.hpp>

#include "tests/data/points/part_files.h"
#include "tests/data/points/utm_chair.h"

namespace geosft::test::test_cloud_files {

TEST_CASE("cloud files: a list names files beside it, whatever folders stand before them") {
  const TemporaryFolder folder;
  write_text(folder / "list.txt", "hdf5_data/b.h5\na.h5\n");
  CHECK(listed_clouds(folder / "list.txt") == std::vector<std::filesystem::path>{folder / "b.h5", folder / "a.h5"});
  require_error([&] { listed_clouds(folder / "none.txt"); }, {"none.txt"});
  for (const std::string name : {"../../a.h5", "/data/a.h5", ".."}) {
    write_text(folder / "list.txt", name + "\n");
    require_error([&] { listed_clouds(folder / "list.txt"); }, {"list.txt", "files in its folder", "\"" + name + "\""});
  }
}

TEST_CASE("cloud files: those of a split are found by name, in order") {
  const TemporaryFolder folder;
  for (const char* name : {"ply_data_val1.h5", "ply_data_val0.h5", "ply_data_train0.h5", "ply_data_val0.txt"}) {
    write_text(folder / name, "");
  }
  CHECK(unlisted_clouds(folder.path(), "val") ==
        std::vector<std::filesystem::path>{folder / "ply_data_val0.h5", folder / "ply_data_val1.h5"});
  CHECK(unlisted_clouds(folder.path(), "test").empty());
}

TEST_CASE("cloud files: parts are read where they are wanted, and files follow each other") {
  const TemporaryFolder folder;
  const PartClouds first(2, 8, 1), second(3, 8, 4);
  write_hdf5(folder / "a.h5", first.arrays());
  write_hdf5(folder / "b.h5", second.arrays());
  const CloudArrays both = read_clouds({folder / "b.h5", folder / "a.h5"}, 2, 5);
  require_equal(both.points, at::cat({second.points, first.points}), "points");
  require_equal(both.parts, at::cat({second.parts, first.parts}), "parts");
  require_equal(both.labels, at::cat({second.labels, first.labels}), "labels");
  CHECK(both.names == std::vector<std::string>{"b:0", "b:1", "b:2", "a:0", "a:1"});
  CHECK_FALSE(read_clouds({folder / "a.h5"}, 2).parts.defined());
  require_error([] { read_clouds({}, 2); }, {"files"});
}

TEST_CASE("cloud files: coordinates in double are read and centred in double, file by file") {
  const TemporaryFolder folder;
  const at::Tensor label = at::zeros({1}, at::kByte);
  write_hdf5(folder / "near.h5", {{"data", chair_at_origin(90).to(at::kFloat).unsqueeze(0)}, {"label", label}});
  write_hdf5(folder / "far.h5", {{"data", utm_chair(90).unsqueeze(0)}, {"label", label}});
  const CloudArrays far = read_clouds({folder / "far.h5"}, 1),
                    both = read_clouds({folder / "near.h5", folder / "far.h5"}, 1);
  require_close(far.points[0] + far.offset[0] - utm_offset(), chair_at_origin(90), 1e-7, "chair");
  require_equal(both.points[1], far.points[0], "second of two");
  require_equal(both.offset, at::cat({at::zeros({1, 3}, at::kDouble), far.offset}), "offsets");
  CHECK_FALSE(read_clouds({folder / "near.h5"}, 1).offset.defined());
}

TEST_CASE("cloud files: parts that do not fit the points") {
  const TemporaryFolder folder;
  auto arrays = PartClouds(2, 8, 1).arrays();
  arrays["pid"] = at::zeros({2, 7}, at::kByte);
  write_hdf5(folder / "a.h5", arrays);
  require_error([&] { read_clouds({folder / "a.h5"}, 2, 5); },
                {"a.h5", "a part for each point", "[2, 8, 3]", "[2, 7]"});
  arrays.erase("pid");
  write_hdf5(folder / "a.h5", arrays);
  CHECK_FALSE(read_clouds({folder / "a.h5"}, 2, 5).parts.defined());
  require_error([&] { read_clouds({folder / "a.h5"}, 1); }, {"a.h5", "1 classes", "label 1 of cloud 1"});
  write_hdf5(folder / "b.h5", PartClouds(2, 8, 1).arrays(/*with_normals=*/false));
  require_error(
      [&] {
        read_clouds({folder / "a.h5", folder / "b.h5"}, 2);
      },
      {"b.h5", "clouds as in a.h5", "without normals"});
}

}  // namespace geosft::test::test_cloud_files
