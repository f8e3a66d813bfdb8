// SPDX-License-Identifier: Apache-2.0
// tools/convert_parts.py.
#include <catch2/catch.hpp>

#include "data/points/part_dataset.h"
#include "tests/data/files.h"
#include "tests/places.h"
#include "tests/support.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/command_line.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test::test_convert_parts {
namespace {

ProcessResult convert(const std::string& interpreter, const TemporaryFolder& folder, const Words& more = {}) {
  return python(
      interpreter,
      Words{source_path("tools/convert_parts.py"), folder / "psb", "--out", folder / "set", "--points", "500"} + more);
}

// Cubes whose second face, z = 1, is the top of a cup; of a fish it has no label, and its numbers are those of faces.
void write_meshes(const TemporaryFolder& folder) {
  for (const char* id : {"8", "9", "10", "11"}) {
    const std::filesystem::path cup = folder / "psb/Cup" / id, fish = folder / "psb/Big Fish" / id;
    write_text(cup.string() + ".off", "# a comment\n" + cube_off(1.0));
    write_text(cup.string() + "_labels.txt", "top \n2\n\nthe rest\n1 3 4 5 6\n");
    write_text(fish.string() + ".off", cube_off(2.0));
    write_text(fish.string() + ".seg", "3\n7\n7\n7\n7\n7\n");
  }
}

void require_refused(const std::string& interpreter, const TemporaryFolder& folder, const Words& words) {
  const ProcessResult result = convert(interpreter, folder);
  INFO(result.err);
  CHECK(result.exit == 1);
  CHECK(lines_of(result.err).size() == 1);
  for (const std::string& word : words) CHECK_THAT(result.err, Catch::Contains(word));
  CHECK_FALSE(std::filesystem::exists(folder / "set" / "parts.txt"));
}

}  // namespace

TEST_CASE("convert_parts: labelled meshes become clouds with parts") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  write_meshes(folder);
  const ProcessResult result = convert(interpreter, folder);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, Catch::Contains("2 classes, 4 parts, 6 clouds to train with, 2 to test with"));
  const auto training = open_part_dataset(folder / "set", PartSplit::train);
  CHECK(training->class_names() == std::vector<std::string>{"Big_Fish", "Cup"});
  CHECK((training->parts() == PartList{{"3", 0}, {"7", 0}, {"the_rest", 1}, {"top", 1}}));
  REQUIRE(training->size() == 6);
  const Shape fish = training->get(0), cup = training->get(3);
  CHECK((fish.label == 0 && cup.label == 1));
  CHECK(cup.points.sizes() == at::IntArrayRef({500, 3}));
  require_equal(cup.parts == 3, cup.normals.select(1, 2) > 0.5, "the top, by normals");
  require_equal(cup.parts == 3, cup.points.select(1, 2) > 1 - 1e-6, "the top, by height");
  require_equal(fish.parts == 0, fish.normals.select(1, 2) < -0.5, "the first face");
  CHECK(std::abs((cup.parts == 3).to(at::kDouble).mean().item<double>() - 1.0 / 6) < 0.06);  // evenly, by area
  CHECK(open_part_dataset(folder / "set", PartSplit::test)->size() == 2);
  // The same points every time, others for another seed.
  CHECK(convert(interpreter, folder).exit == 0);
  require_equal(open_part_dataset(folder / "set", PartSplit::train)->get(0).points, fish.points, "again");
  CHECK(convert(interpreter, folder, {"--seed", "1"}).exit == 0);
  CHECK_FALSE(open_part_dataset(folder / "set", PartSplit::train)->get(0).points.equal(fish.points));
}

TEST_CASE("convert_parts: faces without a label give points without one, which is said") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  write_meshes(folder);
  write_text(folder / "psb/Cup/8_labels.txt", "top\n2\n");
  const ProcessResult result = convert(interpreter, folder);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK(result.err == "Cup: 5 faces have no label, and neither do their points; the first are in " +
                          (folder / "psb/Cup/8.off").string() + "\n");
  const Shape cup = open_part_dataset(folder / "set", PartSplit::train)->get(3);
  require_equal(cup.parts, at::where(cup.normals.select(1, 2) > 0.5, int64_t{3}, unlabelled_part), "parts, by normals");
  write_text(folder / "psb/Big Fish/8.seg", "3\n-1\n7\n7\n7\n7\n");
  CHECK_THAT(convert(interpreter, folder).err, Catch::Contains("Big_Fish: 1 faces have no label"));
  const Shape fish = open_part_dataset(folder / "set", PartSplit::train)->get(0);
  require_equal(fish.parts == unlabelled_part, fish.normals.select(1, 2) > 0.5, "the second face");
}

TEST_CASE("convert_parts: faces of two parts and names that are nearly equal are told") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  write_meshes(folder);
  write_text(folder / "psb/Cup/8_labels.txt", "top\n2\nThe Rest\n1 2 3 4 5 6\n");
  const ProcessResult result = convert(interpreter, folder);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK_THAT(result.err,
             Catch::Contains("8_labels.txt: face 2 is listed under two parts, of which the later one counts\n"));
  CHECK_THAT(result.err, Catch::Contains("Cup: the parts The_Rest and the_rest differ in the case of letters alone\n"));
}

TEST_CASE("convert_parts: broken files are refused in one line") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const std::string& text, const Words& words) {
    write_meshes(folder);
    write_text(folder / "psb" / name, text);
    require_refused(interpreter, folder, words);
  };
  refused("Cup/9_labels.txt", "top\n2 7\n", {"9_labels.txt", "from 1 to 6", "7"});
  refused("Cup/9_labels.txt", "top\n2\nrest\n", {"9_labels.txt", "by turns", "3"});
  refused("Cup/9_labels.txt", "top\ntwo\n", {"9_labels.txt", "numbers", "two"});
  refused("Big Fish/9.seg", "1\n2\n", {"9.seg", "each of 6 faces", "2"});
  refused("Cup/9.off", "ply\n", {"9.off", "begins with OFF"});
  refused("Cup/9.off", "OFF\n3 1 0\n0 0 0\n", {"9.off", "vertices and faces"});
  refused("Cup/9.off", "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", {"9.off, face 0", "3 vertices"});
  refused("Cup/9.off", "OFF 3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", {"9.off, vertex 1", "finite", "nan"});
  refused("Cup/12.off", cube_off(1.0), {"12.off", "12_labels.txt", "12.seg"});
  std::filesystem::remove_all(folder / "psb");
  std::filesystem::create_directory(folder / "psb");
  require_refused(interpreter, folder, {"psb", "ID.off"});
}

TEST_CASE("convert_parts: a Python without NumPy is named in one line, with one that has it") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  write_text(folder / "numpy.py", "raise ModuleNotFoundError('no', name='numpy')\n");
  const ProcessResult result = run_process(
      "/usr/bin/env", Words{"PYTHONPATH=" + folder.path().string(), interpreter, "-B",
                            source_path("tools/convert_parts.py"), folder / "psb", "--out", folder / "set"});
  INFO(result.err);
  CHECK(result.exit == 1);
  REQUIRE(lines_of(result.err).size() == 1);
  CHECK_THAT(result.err, Catch::Contains("has no numpy") && Catch::Contains("/usr/bin/python3") &&
                             Catch::Contains("python3-numpy"));
}

}  // namespace geosft::test::test_convert_parts
