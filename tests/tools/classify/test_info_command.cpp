// SPDX-License-Identifier: Apache-2.0
// geosft-classify info, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/classify/classify_tool.h"

namespace geosft::test::test_info_command {
namespace fs = std::filesystem;

TEST_CASE("info describes runs, checkpoints and shapes") {
  const ClassifyShop shop;
  const std::string run = shop.trained();
  for (const std::string& what : {run, run + "/last.ckpt"}) {
    CHECK_THAT(shop.run_well({"info", what}).out,
               Catch::Contains("dim = 16") && Catch::Contains("cube sphere tetrahedron"));
  }
  const std::string mesh = shop.run_well({"info", (shop.data() / "test" / "cube" / "cube_5.off").string()}).out;
  CHECK_THAT(mesh, Catch::Contains("8 vertices and 12 triangles") && Catch::Contains("z from 0 to 1.3"));
  const std::string cloud = shop.run_well({"info", (shop.data() / "test" / "sphere" / "sphere_5.xyz").string()}).out;
  CHECK_THAT(cloud, Catch::Contains("200 points with normals"));
}

TEST_CASE("info takes the options that every command has") {
  const ClassifyShop shop;
  const std::string file = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const std::string plain = shop.run_well({"info", file}).out;
  CHECK(shop.run_well({"info", file, "--threads", "1", "--seed", "7", "--device", "cpu"}).out == plain);
  shop.refuses({"info", file, "--device", "cuda"}, 2, {"cuda", "cpu"});
  shop.refuses({"info", (shop / "absent.off").string()}, 1, {"absent.off"});
}

}  // namespace geosft::test::test_info_command
