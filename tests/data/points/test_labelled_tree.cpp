// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "data/points/point_formats.h"
#include "tests/data/formats/las_bytes.h"
#include "tests/data/formats/npy_bytes.h"
#include "tests/data/points/part_files.h"
#include "tests/data/zip_files.h"

namespace geosft::test::test_labelled_tree {
namespace {

const std::string four_points = "x y z label\n0 0 0 0\n1 0 0 2\n0 1 0 0\n0 0 1 2\n";

std::vector<std::string> names(const PartDataset& set) {
  std::vector<std::string> found;
  for (int64_t i = 0; i < set.size(); ++i) found.push_back(set.name(i));
  return found;
}

void require_refused(const TemporaryFolder& folder, const std::vector<std::string>& words) {
  require_error([&] { open_labelled_tree(folder.path(), PartSplit::train); }, words);
}

}  // namespace

TEST_CASE("labelled tree: PLY, PCD and tables, whose labels count from 0 in each class") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_labelled_tree(folder.path()));
  write_labelled_tree(folder.path());
  CHECK((is_labelled_tree(folder.path()) && labelled_tree_has_labels(folder.path())));
  const auto train = open_labelled_tree(folder.path(), PartSplit::train_and_validation);
  CHECK(names(*train) ==
        std::vector<std::string>{"lamp/0.ply", "lamp/2.pcd", "lamp/4.txt", "mug/1.ply", "mug/3.pcd", "mug/5.txt"});
  CHECK(names(*open_labelled_tree(folder.path(), PartSplit::test)) ==
        std::vector<std::string>{"lamp/6.ply", "mug/7.ply"});
  CHECK(train->class_names() == std::vector<std::string>{"lamp", "mug"});
  CHECK((train->parts() == PartList{{"0", 0}, {"1", 0}, {"2", 0}, {"0", 1}, {"1", 1}}));
  CHECK((train->has_normals() && train->has_parts() && train->warnings().empty()));
  const PartClouds clouds(8, 64, 1);
  LabelCounts counted(5);
  for (int64_t row = 0; row < train->size(); ++row) {
    const int64_t number = std::stoi(train->name(row).substr(train->name(row).find('/') + 1));
    const Shape shape = train->get(row);
    CHECK((shape.name == train->name(row) && shape.label == number % 2 && train->label(row) == number % 2));
    require_close(shape.points, clouds.points[number].slice(0, 0, 64 - number), 1e-5, "points");
    require_close(shape.normals, clouds.normals[number].slice(0, 0, 64 - number), 1e-5, "normals");
    require_equal(shape.parts, clouds.parts[number].slice(0, 0, 64 - number), "parts");
    counted.add(shape.parts.unsqueeze(0));
  }
  const LabelCounts counts = train->count_parts();
  require_equal(counts.parts, counted.parts, "counts");
  CHECK((counts.clouds == 6 && counts.unlabelled == 0 && counts.unlabelled_clouds == 0));
  CHECK_THROWS_AS(train->get(6), std::out_of_range);
  require_error([&] { open_labelled_tree(folder.path(), PartSplit::validation); },
                {"a published validation split", "--validation-fraction"});
}

TEST_CASE("labelled tree: parts.txt names the numbers of each class, in any order and with gaps") {
  const TemporaryFolder folder;
  write_text(folder / "cup/a.txt", four_points);
  write_text(folder / "disc/a.csv", "x,y,z,label\n0,0,0,2\n1,0,0,7\n");
  write_text(folder / "parts.txt", "2 disc rim\n0 cup bowl\n7 disc middle\n2 cup handle\n");
  const auto train = open_labelled_tree(folder.path(), PartSplit::train);
  CHECK((train->parts() == PartList{{"rim", 1}, {"bowl", 0}, {"middle", 1}, {"handle", 0}}));
  CHECK((train->parts()[0].label == 2 && train->parts()[1].label == 0 && train->parts()[2].label == 7));
  require_equal(train->get(0).parts, at::tensor({1, 3, 1, 3}, at::kLong), "cup");
  require_equal(train->get(1).parts, at::tensor({0, 2}, at::kLong), "disc");
  CHECK_FALSE(train->has_normals());
  CHECK(train->file_without_normals() == (folder / "cup/a.txt").string());
  write_text(folder / "parts.txt", "0 cup bowl\n0 disc rim\n");
  require_refused(folder, {"2 broken files", "labels of the parts of cup, 0, or -1 without a label, found 2",
                           "labels of the parts of disc, 0, or -1"});
  write_text(folder / "parts.txt", "0 cup bowl\n0 cup handle\n");
  require_refused(folder, {"parts.txt:2", "not above for cup"});
  write_text(folder / "parts.txt", "0 cup bowl\n");
  require_refused(folder, {"parts.txt", "a part of disc"});
}

TEST_CASE("labelled tree: points without a label, and points that are dropped with theirs") {
  const TemporaryFolder folder;
  write_text(folder / "cup/a.txt", "x y z label\n0 0 0 -1\nnan 0 0 3\n0 1 0 5\n");
  write_text(folder / "cup/b.txt", "x y z label\n0 0 0 -1\n1 0 0 -1\n");
  require_refused(folder, {"a.txt:3", "--drop-invalid"});
  const auto train = open_labelled_tree(folder.path(), PartSplit::train, {.drop_invalid = true});
  CHECK((train->parts() == PartList{{"5", 0}}));
  CHECK(train->parts()[0].label == 5);
  require_equal(train->get(0).parts, at::tensor({-1, 0}, at::kLong), "parts");
  const LabelCounts counts = train->count_parts();
  CHECK((counts.unlabelled == 3 && counts.clouds == 2 && counts.unlabelled_clouds == 1 && counts.labelled() == 1));
  REQUIRE(train->warnings().size() == 1);
  CHECK_THAT(train->warnings()[0], Catch::Contains("a.txt: 1 of its 3 points has no finite coordinates"));
  write_text(folder / "cup/a.txt", "x y z label\n0 0 0 -1\n");
  require_refused(folder, {"a labelled point in the files of cup", "none"});
}

TEST_CASE("labelled tree: parts.txt tells numbers of points without a label, a class each") {
  const TemporaryFolder folder;
  write_text(folder / "cup/a.txt", "x y z label\n0 0 0 255\n1 0 0 1\n0 1 0 0\n0 0 1 -1\n");
  write_text(folder / "cup/b.txt", "x y z label\n0 0 0 255\n1 0 0 0\n");
  write_text(folder / "disc/a.txt", "x y z label\n0 0 0 0\n1 0 0 255\n");
  write_text(folder / "parts.txt", "255 cup unlabelled\n0 cup unlabelled\n1 cup bowl\n0 disc middle\n255 disc rim\n");
  const auto train = open_labelled_tree(folder.path(), PartSplit::train);
  CHECK((train->parts() == PartList{{"bowl", 0}, {"middle", 1}, {"rim", 1}}));
  require_equal(train->get(0).parts, at::tensor({-1, 0, -1, -1}, at::kLong), "cup");
  require_equal(train->get(2).parts, at::tensor({1, 2}, at::kLong), "disc");
  const LabelCounts counts = train->count_parts();
  CHECK((counts.unlabelled == 5 && counts.unlabelled_clouds == 1 && counts.labelled() == 3));
  write_text(folder / "parts.txt", "0 cup unlabelled\n1 cup bowl\n0 disc middle\n255 disc rim\n");
  require_refused(folder, {"2 broken files", "labels of the parts of cup, 0, 1, or -1 without a label, found 255",
                           "a line \"255 cup PART\" in parts.txt names it, with unlabelled for PART"});
  write_text(folder / "parts.txt", "0 cup unlabelled\n1 cup unlabelled\n0 disc middle\n");
  require_refused(folder, {"parts.txt", "a part of cup", "none"});
}

TEST_CASE("labelled tree: columns are named by the option where the files do not") {
  const TemporaryFolder folder;
  write_text(folder / "cup/a.xyz", "0 0 0 0 0.5\n1 0 0 1 0.5\n");
  require_refused(folder, {"a.xyz: expected a label for each point", "--columns x,y,z,label"});
  CHECK_FALSE(labelled_tree_has_labels(folder.path()));
  const ShapeReadOptions told{.columns = "x,y,z,label,intensity"};
  CHECK(labelled_tree_has_labels(folder.path(), told));
  require_equal(open_labelled_tree(folder.path(), PartSplit::train, told)->get(0).parts, at::tensor({0, 1}, at::kLong),
                "parts");
  CHECK(labelled_tree_option_use(folder.path()).columns);
  std::filesystem::remove_all(folder / "cup");
  write_labelled_tree(folder.path(), 4);  // PLY and PCD
  const ReadOptionUse use = labelled_tree_option_use(folder.path());
  CHECK((use.drop_invalid && !use.columns));
}

TEST_CASE("labelled tree: a mesh is sampled, and a point has the label of the nearest vertex") {
  const TemporaryFolder folder;
  const std::string far = "10000000.3";  // the label follows the vertex where coordinates get an offset
  write_text(folder / "step/a.ply",
             "ply\nformat ascii 1.0\nelement vertex 6\nproperty double x\nproperty double y\nproperty double z\n"
             "property int part\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n" +
                 far + " 0 0 4\n" + far + " 1 0 4\n" + far + " 0 1 4\n" + far + " 9 0 6\n" + far + " 10 0 6\n" + far +
                 " 9 1 6\n3 0 1 2\n3 3 4 5\n");
  const auto train = open_labelled_tree(folder.path(), PartSplit::train);
  const Shape shape = train->get(0);
  CHECK((shape.from_mesh && shape.points.size(0) == 4096 && train->has_normals()));
  const at::Tensor high = file_coordinates(shape).select(1, 1) > 5;
  CHECK((high.any().item<bool>() && !high.all().item<bool>()));
  require_equal(shape.parts, high.to(at::kLong), "parts");
  require_equal(train->get(0).points, shape.points, "the same sample again");
  CHECK_THAT(train->warnings().at(0), Catch::Contains("a mesh, of which 4096 points are sampled"));
}

TEST_CASE("labelled tree: folders train and test, and one class without a folder of its own") {
  const TemporaryFolder folder;
  const auto split = [&](const std::string& name) {
    const auto train = open_labelled_tree(folder / name, PartSplit::train);
    const auto test = open_labelled_tree(folder / name, PartSplit::test);
    CHECK(test->class_names() == train->class_names());
    CHECK((test->parts() == train->parts()));
    return std::pair(names(*train), names(*test));
  };
  using Names = std::vector<std::string>;
  for (const char* file : {"above/train/cup/a.txt", "above/test/cup/a.txt", "below/cup/train/a.txt",
                           "below/cup/test/b.txt", "bare/train/a.txt", "bare/test/b.txt"}) {
    write_text(folder / file, four_points);
  }
  CHECK(split("above") == std::pair(Names{"train/cup/a.txt"}, Names{"test/cup/a.txt"}));
  CHECK(split("below") == std::pair(Names{"cup/train/a.txt"}, Names{"cup/test/b.txt"}));
  CHECK(split("bare") == std::pair(Names{"train/a.txt"}, Names{"test/b.txt"}));
  write_text(folder / "bare/val/c.txt", four_points);
  CHECK(split("bare") == std::pair(Names{"train/a.txt"}, Names{"test/b.txt"}));
  CHECK_THAT(open_labelled_tree(folder / "bare", PartSplit::test)->warnings().at(0), Catch::Contains("val/c.txt"));
  std::filesystem::rename(folder / "bare/train", folder / "bare/training");
  std::filesystem::rename(folder / "bare/test", folder / "bare/Testing");
  CHECK(split("bare") == std::pair(Names{"training/a.txt"}, Names{"Testing/b.txt"}));
  std::filesystem::remove_all(folder / "bare/Testing");
  require_error([&] { open_labelled_tree(folder / "bare", PartSplit::test); },
                {"expected shapes to test with, found none in a folder test/"});
  write_text(folder / "deep/cup/monday/a.txt", four_points);
  require_error([&] { open_part_dataset(folder / "deep", PartSplit::train); },
                {"labelled clouds", "1 shape file in another place, cup/monday/a.txt"});
  for (const char* file : {"1", "2", "3", "4"}) write_text(folder / "cups" / (std::string(file) + ".txt"), four_points);
  write_text(folder / "cups/parts.txt", "0 cups bowl\n2 cups handle\n");
  write_text(folder / "cups/notes.txt", "labelled by hand\n");
  CHECK(split("cups") == std::pair(Names{"1.txt", "2.txt", "3.txt"}, Names{"4.txt"}));
  CHECK(split("cups/").first.size() == 3);
  CHECK(open_labelled_tree(folder / "cups/", PartSplit::test)->class_names() == Names{"cups"});
  CHECK(open_labelled_tree(folder / "cups", PartSplit::test)->warnings() ==
        Names{(folder / "cups").string() + ": left out: 1 file *.txt"});
  write_text(folder / "cups/config.toml", "");  // a RUN, whose tables are no clouds
  CHECK_FALSE(is_labelled_tree(folder / "cups"));
}

TEST_CASE("labelled tree: LAS files, whose points may all be of class 0, and arrays of NumPy") {
  const TemporaryFolder folder;
  constexpr size_t record = 28, classification = 15;  // of format 1
  std::string las = las_bytes({});
  const auto classify = [&](size_t before_end, uint8_t label) {
    overwrite(las, las.size() - before_end * record + classification, raw(label));
  };
  classify(2, 0);
  classify(1, 0);
  write_text(folder / "tiles/a.las", las);
  CHECK((is_labelled_tree(folder.path()) && !labelled_tree_has_labels(folder.path())));
  classify(1, 2);
  write_text(folder / "tiles/a.las", las);
  CHECK(labelled_tree_has_labels(folder.path()));
  write_zip(folder / "tiles/b.npz",
            {{"points.npy", npy_bytes("<f4", false, "(2, 3)", raw_all<float>({0, 0, 0, 1, 1, 1}))},
             {"labels.npy", npy_bytes("<i2", false, "(2,)", raw_all<int16_t>({-1, 2}))}});
  write_text(folder / "parts.txt", "0 tiles unlabelled\n2 tiles ground\n");
  const auto train = open_labelled_tree(folder.path(), PartSplit::train);
  REQUIRE(train->size() == 2);
  require_equal(train->get(0).parts, at::tensor({-1, 0}, at::kLong), "LAS");
  require_equal(train->get(1).parts, at::tensor({-1, 0}, at::kLong), "NumPy");
  CHECK(file_coordinates(train->get(0))[1][2].item<double>() == Approx(103));
}

TEST_CASE("labelled tree: what other tools leave beside the clouds is no cloud") {
  const TemporaryFolder folder;
  write_text(folder / "cup/a.ply", "");
  write_text(folder / "cup/a.obj", tetrahedron_obj);
  write_text(folder / "cup/b.off", "");
  write_text(folder / "cup/b_labels.txt", "handle\n1 2 3 4\n");
  const DatasetListing listing = list_labelled_tree(folder.path(), Split::train);
  REQUIRE(listing.items.size() == 1);
  CHECK(listing.items[0].name == "cup/a.ply");
  std::filesystem::remove(folder / "cup/a.ply");  // a folder for convert_parts.py is none of labelled clouds
  CHECK_FALSE(is_labelled_tree(folder.path()));
}

TEST_CASE("labelled tree: broken sets") {
  const TemporaryFolder folder;
  write_text(folder / "cup/a.txt", four_points);
  write_text(folder / "cup/b.txt", "x y z intensity\n0 0 0 1\n");
  write_text(folder / "cup/c.txt", "x y z label\n0 0 0 0.5\n");
  require_refused(folder, {"2 broken files", "b.txt: expected a label for each point", "found x, y, z, intensity",
                           "c.txt: expected labels that are whole numbers", "0.5 at point 1"});
  require_error([&] { open_labelled_tree(folder.path(), PartSplit::test); },
                {"at most 3 files per class", "one in 4 is for testing; folders train/ and test/"});
  write_text(folder / "cup/b.txt", four_points);
  write_text(folder / "cup/b.pcd", "");
  require_refused(folder, {"b.txt: expected one file for each cloud", "b.pcd"});
  CHECK(is_labelled_tree(folder.path()));  // so that this is said
  std::filesystem::remove_all(folder / "cup");
  write_text(folder / "coffee cup/a.txt", four_points);
  require_refused(folder, {"without blanks and #", "\"coffee cup\""});
  std::filesystem::remove_all(folder / "coffee cup");
  write_text(folder / "cup/train/a.txt", four_points);
  write_text(folder / "disc/test/a.txt", four_points);
  require_refused(folder, {"files of disc to train with", "files to test with alone"});
  CHECK(open_labelled_tree(folder.path(), PartSplit::test)->size() == 1);
}

TEST_CASE("labelled tree: several names of labels are told, once for all files") {
  const TemporaryFolder folder;
  for (const char* file : {"cup/a.txt", "cup/b.txt"}) {
    write_text(folder / file, "x y z classification scalar_label\n0 0 0 5 1\n");
  }
  const auto train = open_labelled_tree(folder.path(), PartSplit::train);
  CHECK((train->parts() == PartList{{"1", 0}}));
  CHECK(train->warnings() ==
        std::vector<std::string>{(folder / "cup/a.txt").string() +
                                 ": its labels are those of scalar_label, not of classification; 1 more file has the "
                                 "like"});
}

}  // namespace geosft::test::test_labelled_tree
