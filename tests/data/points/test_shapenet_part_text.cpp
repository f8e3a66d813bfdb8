// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <catch2/catch.hpp>

#include "tests/data/points/part_files.h"

namespace geosft::test::test_shapenet_part_text {

TEST_CASE("ShapeNetPart text: shapes of the published lists, in their order") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_shapenet_part_text(folder.path()));
  write_shapenet_text(folder.path());
  CHECK(is_shapenet_part_text(folder.path()));
  const auto train = open_shapenet_part_text(folder.path(), PartSplit::train);
  CHECK(train->size() == 3);
  CHECK(train->has_normals());
  CHECK(train->class_names().size() == 16);
  CHECK(train->parts().size() == 50);
  CHECK(train->label(0) == 11);
  CHECK(train->label(1) == 0);
  const Shape plane = train->get(1);
  CHECK(plane.name == "Airplane/a1");
  CHECK(plane.label == 0);
  require_equal(plane.parts, at::tensor({2, 3, 2, 3, 2}, at::kLong), "parts");
  CHECK(plane.points[3][0].item<float>() == 3.5f);
  CHECK(plane.normals.sizes() == at::IntArrayRef{5, 3});
  CHECK(open_shapenet_part_text(folder.path(), PartSplit::train_and_validation)->get(3).name == "Airplane/a3");
  CHECK(open_shapenet_part_text(folder.path(), PartSplit::train_and_validation)->name(3) == "Airplane/a3");
  CHECK(open_shapenet_part_text(folder.path(), PartSplit::validation)->size() == 1);
  CHECK(open_shapenet_part_text(folder.path(), PartSplit::test)->get(0).name == "Mug/m2");
  CHECK_THROWS_AS(train->get(3), std::out_of_range);
}

TEST_CASE("ShapeNetPart text: the older form counts the parts of a class from 1") {
  const TemporaryFolder folder;
  write_older_shapenet_text(folder.path());
  const auto test = open_shapenet_part_text(folder.path(), PartSplit::test);
  CHECK_FALSE(test->has_normals());
  const Shape mug = test->get(0);
  CHECK_FALSE(mug.normals.defined());
  require_equal(mug.points, at::tensor({0.5f, 0.0f, 0.0f, 0.0f, 0.25f, 0.0f, 0.0f, 0.0f, -1.0f}).view({3, 3}),
                "points");
  require_equal(mug.parts, at::tensor({37, 36, 37}, at::kLong), "parts");
  write_text(folder / "03797390/points_label/m2.seg", "2\n3\n1\n");
  require_error([&] { test->get(0); }, {"m2.seg", "parts from 1 to 2 of Mug", "1 to 3"});
  write_text(folder / "03797390/points_label/m2.seg", "2\n1\n");
  require_error([&] { test->get(0); }, {"m2.seg", "3 points", "2"});
  std::filesystem::remove(folder / "03797390/points_label/m2.seg");
  require_error([&] { test->get(0); }, {"m2.seg"});
  require_error([&] { open_shapenet_part_text(folder.path(), PartSplit::test); }, {"m2.seg", "no such file"});
}

TEST_CASE("ShapeNetPart text: points without a label are kept, and counted apart") {
  const TemporaryFolder newer, older;
  write_shapenet_text(newer.path());
  write_text(newer / "03797390/m2.txt", labelled_lines(2, 36) + "0 0 0 0 0 1 -1\n");
  const auto text = open_shapenet_part_text(newer.path(), PartSplit::test);
  require_equal(text->get(0).parts, at::tensor({36, 37, -1}, at::kLong), "parts");
  write_older_shapenet_text(older.path());
  write_text(older / "03797390/points_label/m2.seg", "2\n-1\n1\n");
  const auto labels = open_shapenet_part_text(older.path(), PartSplit::test);
  require_equal(labels->get(0).parts, at::tensor({37, -1, 36}, at::kLong), "parts");
  for (const PartDataset* set : {text.get(), labels.get()}) {
    const LabelCounts counts = set->count_parts();
    CHECK((counts.unlabelled == 1 && counts.unlabelled_clouds == 0));
    CHECK((counts.parts.sum().item<int64_t>() == 2 && counts.parts[37].item<int64_t>() == 1));
  }
  write_text(older / "03797390/points_label/m2.seg", "-1\n-1\n-1\n");
  const LabelCounts none = labels->count_parts();
  CHECK((none.unlabelled == 3 && none.unlabelled_clouds == 1 && none.parts.sum().item<int64_t>() == 0));
  for (const char* wrong : {"2\n-1\n0\n", "2\n-1\n-2\n"}) {
    write_text(older / "03797390/points_label/m2.seg", wrong);
    require_error([&] { labels->get(0); }, {"m2.seg"});
  }
}

TEST_CASE("ShapeNetPart text: points without finite coordinates are dropped with their parts, or refused") {
  const TemporaryFolder folder;
  write_older_shapenet_text(folder.path());
  write_text(folder / "03797390/points/m2.pts", "0.5 0 0\nnan 0.25 0\n0 0 -1\n");
  const auto dropped = open_shapenet_part_text(folder.path(), PartSplit::test, {.drop_invalid = true})->get(0);
  require_equal(dropped.points, at::tensor({0.5f, 0.0f, 0.0f, 0.0f, 0.0f, -1.0f}).view({2, 3}), "points");
  require_equal(dropped.parts, at::tensor({37, 37}, at::kLong), "parts");
  const std::string left_out = "1 of its 3 points has no finite coordinates, and is left out";
  REQUIRE(dropped.warnings == std::vector<std::string>{left_out});
  const auto kept = open_shapenet_part_text(folder.path(), PartSplit::test);
  require_error([&] { kept->get(0); }, {"m2.pts:2", "--drop-invalid", "nan"});
  const TemporaryFolder newer;
  write_shapenet_text(newer.path());
  write_text(newer / "03797390/m2.txt", labelled_lines(2, 36) + "inf 0 0 0 0 1 36\n");
  require_error([&] { open_shapenet_part_text(newer.path(), PartSplit::test)->get(0); },
                {"m2.txt:3", "--drop-invalid"});
  const auto two = open_shapenet_part_text(newer.path(), PartSplit::test, {.drop_invalid = true})->get(0);
  require_equal(two.parts, at::tensor({36, 37}, at::kLong), "parts");
  CHECK(two.warnings == std::vector<std::string>{left_out});
  REQUIRE(two.normals.sizes() == at::IntArrayRef{2, 3});
}

TEST_CASE("ShapeNetPart text: columns tell what the older form does not") {
  const TemporaryFolder folder;
  write_older_shapenet_text(folder.path());
  write_text(folder / "03797390/points/m2.pts", "0.5 0 0 2 3 -4\n0 0.25 0 5 0 0\n0 0 -1 7 7 7\n");
  require_error([&] { open_shapenet_part_text(folder.path(), PartSplit::test)->get(0); },
                {"m2.pts", "--columns x,y,z,r,g,b"});
  const Shape mug = open_shapenet_part_text(folder.path(), PartSplit::test, {.columns = "x,y,z,r,g,b"})->get(0);
  REQUIRE(mug.points.sizes() == at::IntArrayRef{3, 3});
  REQUIRE_FALSE(mug.normals.defined());
}

TEST_CASE("ShapeNetPart text: broken sets") {
  const TemporaryFolder folder;
  write_shapenet_text(folder.path());
  const auto train = open_shapenet_part_text(folder.path(), PartSplit::train);
  write_text(folder / "02691156/a1.txt", labelled_lines(3, 3));  // 4 is a bag's
  require_error([&] { train->get(1); }, {"a1.txt", "parts from 0 to 3 of Airplane", "3 to 4"});
  const auto fails = [&](const std::vector<std::string>& words) {
    require_error([&] { open_shapenet_part_text(folder.path(), PartSplit::train); }, words);
  };
  const std::filesystem::path list = folder / "train_test_split/shuffled_train_file_list.json";
  write_text(list, shape_list({"02691156/a9"}));
  fails({"a9.txt", "shuffled_train_file_list.json", "no such file"});
  write_text(list, shape_list({"99999999/a1"}));
  fails({"shuffled_train_file_list.json", "99999999/a1"});
  write_text(list, shape_list({"02691156/.."}));
  fails({"files in its folder", "02691156/.."});
  write_text(list, "[\"/data/02691156/a1\"]");
  fails({"files in its folder", "/data/02691156/a1"});
  write_text(list, shape_list({"02691156/" + std::string(5000, 'x')}));
  fails({"no such file"});
  write_text(list, "[\"shape_data/02691156/a1\", 3]");
  fails({"a JSON list of texts", "other JSON"});
  write_text(list, "[\"shape_data/026911");
  fails({"a JSON list of texts", "no JSON"});
  write_text(list, "[]");
  fails({"shapes in the list", "none"});
  std::filesystem::remove(list);
  fails({"shuffled_train_file_list.json"});
  for (const char* synset : {"02691156", "03797390"}) std::filesystem::remove_all(folder / synset);
  fails({"a folder for a class", "none"});
}

}  // namespace geosft::test::test_shapenet_part_text
