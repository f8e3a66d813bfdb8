// SPDX-License-Identifier: Apache-2.0
// tools/furniture_parts.py.
#include <catch2/catch.hpp>

#include "data/points/part_dataset.h"
#include "tests/data/points/installed_furniture.h"
#include "tests/places.h"
#include "tests/support.h"
#include "tests/tools/experiment/command_line.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test::test_furniture_parts {
namespace {

const std::string script = source_path("tools/furniture_parts.py");

}  // namespace

TEST_CASE("furniture_parts: the furniture becomes labelled meshes, of which a set with parts is made") {
  const std::string interpreter = find_python();
  if (interpreter.empty() || !has_furniture()) return;
  const TemporaryFolder folder;
  const ProcessResult labelled = python(interpreter, {script, "--out", folder / "labelled", "--each", "4"});
  INFO(labelled.err);
  REQUIRE(labelled.exit == 0);
  CHECK_THAT(labelled.out, Catch::Contains("4 chairs, 4 lamps, 4 tables"));
  const ProcessResult made = python(interpreter, {source_path("tools/convert_parts.py"), folder / "labelled", "--out",
                                                  folder / "set", "--points", "200"});
  INFO(made.err);
  REQUIRE(made.exit == 0);
  const auto training = open_part_dataset(folder / "set", PartSplit::train);
  CHECK(training->class_names() == std::vector<std::string>{"chair", "lamp", "table"});
  REQUIRE(training->parts().size() == 7);
  REQUIRE(training->size() == 9);
  // Of a table: the top, the last part, lies above the legs.
  const Shape table = training->get(8);
  const at::Tensor height = table.points.select(1, 1);
  CHECK(height.index({table.parts == 6}).min().item<double>() > height.index({table.parts == 5}).mean().item<double>());
}

TEST_CASE("furniture_parts: furniture that is not installed is named") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  const ProcessResult result =
      python(interpreter, {script, "--out", folder / "labelled", "--furniture", folder / "nowhere"});
  CHECK(result.exit == 1);
  REQUIRE(lines_of(result.err).size() == 1);
  CHECK_THAT(result.err, Catch::Contains("nowhere") && Catch::Contains("sweethome3d-furniture"));
}

}  // namespace geosft::test::test_furniture_parts
