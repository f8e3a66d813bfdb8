// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_list.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_part_list {
namespace {

const std::vector<std::string> classes = {"lamp", "mug"};

}  // namespace

TEST_CASE("part list: a line a part, and the same text back") {
  const std::string text = "0 lamp top\n1 mug cup\n2 lamp foot\n";
  const PartList parts = parse_part_list(text, classes, "here");
  CHECK((parts == PartList{{"top", 0}, {"cup", 1}, {"foot", 0}}));
  CHECK(part_list_text(parts, classes) == text);
  for (size_t id = 0; id < parts.size(); ++id) CHECK(parts[id].label == static_cast<int64_t>(id));
  require_equal(part_mask(parts, 2), at::tensor({1, 0, 1, 0, 1, 0}, at::kLong).to(at::kBool).view({2, 3}), "mask");
  const TemporaryFolder folder;
  write_text(folder / "parts.txt", text);
  CHECK((read_part_list(folder / "parts.txt", classes) == parts));
}

TEST_CASE("part list: broken lines are named") {
  const auto fails = [](const std::string& text, const std::vector<std::string>& words) {
    require_error([&] { parse_part_list(text, classes, "parts.txt"); }, words);
  };
  fails("1 lamp top\n", {"parts.txt", "1", "part 0"});
  fails("0 lamp top\n1 sofa seat\n", {"2", "a class", "sofa"});
  fails("0 lamp top\n1 lamp top\n", {"2", "not above", "top"});
  fails("0 lamp\n", {"1", "the name of a part"});
  fails("0 lamp top left\n", {"1", "left"});
  fails("zero lamp top\n", {"1", "the id of a part", "zero"});
  fails("0 lamp top\n", {"parts.txt", "a part of mug", "none"});
}

TEST_CASE("part list: labels of each class, with gaps") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    write_text(folder / "parts.txt", text);
    return read_labelled_parts(folder / "parts.txt", classes);
  };
  const LabelledParts list = read("3 mug cup\n0 lamp top\n0 mug base\n255 mug Unlabeled\n9 lamp unlabelled\n");
  CHECK((list.parts == PartList{{"cup", 1}, {"top", 0}, {"base", 1}}));
  CHECK(std::vector<int64_t>{list.parts[0].label, list.parts[1].label, list.parts[2].label} ==
        std::vector<int64_t>{3, 0, 0});
  CHECK((list.unlabelled == std::vector<std::pair<int64_t, int64_t>>{{1, 255}, {0, 9}}));
  require_error([&] { read("0 mug cup\n0 lamp top\n0 mug base\n"); }, {"parts.txt:3", "not above for mug", "0"});
  require_error([&] { read("-1 mug cup\n0 lamp top\n"); }, {"parts.txt:1", "0 or more", "-1"});
  require_error([&] { read("0 mug cup\n"); }, {"parts.txt", "a part of lamp", "none"});
}

TEST_CASE("ShapeNetPart has 16 classes and 50 parts, numbered without gaps") {
  const PartList parts = shapenet_part_list();
  const std::vector<std::string> names = shapenet_class_names();
  CHECK(names.size() == 16);
  CHECK(parts.size() == 50);
  std::set<std::string> synsets;
  int64_t next = 0;
  for (const ShapeNetPartClass& one : shapenet_part_classes()) {
    CHECK(one.first_part == next);
    next += one.parts;
    synsets.insert(one.synset);
  }
  CHECK(synsets.size() == 16);
  // As the published lists have them.
  CHECK(names[10] == "Motorbike");
  CHECK(parts[30] == ShapePart{"1", 10});
  CHECK(parts[35] == ShapePart{"6", 10});
  CHECK(parts[47] == ShapePart{"1", 15});
}

TEST_CASE("lists of ShapeNetPart's classes are checked") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "classes.txt";
  std::string all;
  for (const ShapeNetPartClass& one : shapenet_part_classes()) all += std::string(one.name) + "\t" + one.synset + "\n";
  write_text(file, all);
  check_shapenet_classes(file, true);
  const auto fails = [&](const std::string& text, bool whole, const std::vector<std::string>& words) {
    write_text(file, text);
    require_error([&] { check_shapenet_classes(file, whole); }, words);
  };
  write_text(file, "Mug 03797390\n");
  check_shapenet_classes(file, false);
  fails("Mug 03797390\n", true, {"1", "Airplane", "Mug"});
  fails("Airplane\t02691156\n", true, {"classes.txt", "16 classes", "1"});
  fails("Mug 02691156\n", false, {"classes.txt", "1", "Mug 02691156"});
  fails("Sofa 1\n", false, {"a class of ShapeNetPart", "Sofa"});
}

}  // namespace geosft::test::test_part_list
