// SPDX-License-Identifier: Apache-2.0
#include "data/formats/point_columns.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_point_columns {
namespace {

using Row = std::array<double, 6>;

// The shape of a table without names, of these rows and so many columns.
FileShape table_of(const std::vector<Row>& rows, size_t columns = 6) {
  FileShapeBuilder builder("scan.xyz", "line");
  PointRows points(numbered_columns(columns), columns, builder);
  for (const Row& row : rows) points.add(row, 0);
  points.finish();
  return builder.finish();
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("names of columns are found in any case and order", "[point_columns]") {
  const auto columns = named_columns({"Intensity", "Z", "X", "Y", "NX", "ny", "Normal_z"});
  REQUIRE(columns);
  CHECK(columns->at == std::array<size_t, 6>{2, 3, 1, 4, 5, 6});
  CHECK(columns->has_normals);
  CHECK_FALSE(columns->numbered);
  const auto colours = named_columns({"x", "y", "z", "r", "g", "b"});
  REQUIRE(colours);
  CHECK_FALSE(colours->has_normals);
  CHECK(named_columns({"x", "y", "z", "nx", "ny"})->has_normals == false);
  CHECK_FALSE(named_columns({"x", "y"}));
  CHECK_FALSE(named_columns({"easting", "northing", "height"}));
  CHECK(named_columns({"x", "y", "z", "x"})->at[0] == 0);
  // As ParaView names them.
  const auto paraview =
      named_columns({"RGB:0", "Normals:0", "Normals:1", "Normals:2", "Points:0", "Points:1", "points_2"});
  REQUIRE(paraview);
  CHECK(paraview->at == std::array<size_t, 6>{4, 5, 6, 1, 2, 3});
  CHECK(paraview->has_normals);
  CHECK_FALSE(named_columns({"points:0", "points:1", "points:3"}));
}

TEST_CASE("the value of --columns is split and checked", "[point_columns]") {
  CHECK(column_names("x, y ,z") == std::vector<std::string_view>{"x", "y", "z"});
  CHECK(columns_error("").empty());
  CHECK(columns_error("i,x,y,z").empty());
  CHECK(columns_error("x,y,z,nx,ny,nz,nw,w,w").empty());
  CHECK_THAT(columns_error("x,x,y,z"), Catch::Contains("once, found 'x,x,y,z'"));
  CHECK_THAT(columns_error("x,y,z,nx,ny,ny"), Catch::Contains("each component of a normal once"));
  CHECK_THAT(columns_error("x,y,z,nx,ny,nk"), Catch::Contains("nx, ny and nz, or none of them"));
  CHECK_THAT(columns_error("x,y"), Catch::Contains("x, y and z") && Catch::Contains("'x,y'"));
  CHECK(said_columns("i,x,y,z", 4, "a.xyz").at[0] == 1);
  require_error([] { said_columns("x,y,z", 4, "a.xyz"); }, {"a.xyz", "3 columns", "--columns", "4"});
  require_error([] { said_columns("a,b,c", 3, "a.xyz"); }, {"--columns", "'a,b,c'"});
  CHECK(said_columns("x,y,z,z,nx", 5, "a.xyz").at[2] == 2);  // as runs may hold that were trained before
}

TEST_CASE("six columns without names are normals by their length, or colours by their range", "[point_columns]") {
  const FileShape normals = table_of({{0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0.6, -0.8}, {0, 1, 0, 0, 0, 0}});
  require_close(normals.normals, at::tensor({0.0F, 0.0F, 1.0F, 0.0F, 0.6F, -0.8F, 0.0F, 0.0F, 0.0F}).view({3, 3}), 1e-6,
                "normals");
  CHECK(normals.warnings.empty());
  // 0 … 255, 0 … 1, and integers up to 65535.
  for (const Row& colour : {Row{1, 0, 0, 255, 128, 3}, Row{1, 0, 0, 0.5, 0.2, 0.1}, Row{1, 0, 0, 65535, 300, 0}}) {
    const FileShape colours = table_of({{0, 0, 0, 12, 0, 0}, colour});
    CHECK_FALSE(colours.normals.defined());
    REQUIRE(colours.warnings.size() == 1);
    CHECK_THAT(colours.warnings[0], Catch::Contains("colours"));
  }
  require_error(
      [] {
        table_of({{0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, -3}});
      },
      {"scan.xyz", "--columns x,y,z,nx,ny,nz", "--columns x,y,z,r,g,b", "(0, 0, -3) at point 2"});
  require_error([] { table_of({{0, 0, 0, 300.5, 0, 1}}); }, {"(300.5, 0, 1) at point 1"});
  // The row that is unlike most others is named.
  require_error(
      [] {
        table_of({{0, 0, 0, -0.6, 0, 0.8}, {0, 0, 0, 0.6, 0, -0.8}, {0, 0, 0, 1, 1, 1}});
      },
      {"(1, 1, 1) at point 3"});
}

TEST_CASE("columns of which nothing is known are ignored", "[point_columns]") {
  CHECK_FALSE(table_of({{0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}}).normals.defined());
  CHECK_FALSE(table_of({{1, 2, 3, 0, 0, 0}}, 4).normals.defined());
  // A wider table: ShapeNetPart's normals are taken, other numbers and words are not.
  CHECK(table_of({{0, 0, 0, 0, 1, 0}}, 7).normals.defined());
  for (const Row& row : {Row{1, 0, 0, 7, 8, -9}, Row{1, 0, 0, nan, 0, 0}}) {
    const FileShape wide = table_of({{0, 0, 0, 0, 1, 0}, row}, 8);
    CHECK_FALSE(wide.normals.defined());
    REQUIRE(wide.warnings.size() == 1);
    CHECK_THAT(wide.warnings[0], Catch::Contains("columns 4 to 8") && Catch::Contains("--columns"));
  }
  // A normal in six columns that is no number is missing.
  const FileShape some = table_of({{0, 0, 0, 0, 1, 0}, {1, 0, 0, nan, nan, nan}});
  require_equal(some.normals[1], at::zeros({3}), "missing normal");
}

}  // namespace geosft::test::test_point_columns
