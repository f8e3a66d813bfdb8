// SPDX-License-Identifier: Apache-2.0
// geosft-classify export, end to end.
#include <catch2/catch.hpp>

#include "data/formats/hdf5_file.h"
#include "data/points/point_dataset.h"
#include "tests/support.h"
#include "tests/tools/classify/classify_tool.h"

namespace geosft::test::test_export_command {

TEST_CASE("export writes the points that training samples, in a form that training reads") {
  const ClassifyShop shop;
  const std::string out = (shop / "arrays").string();
  const ProcessResult result =
      shop.run_well({"export", shop.data().string(), "--out", out, "--points-per-mesh", "100", "--points", "90"});
  REQUIRE_THAT(result.out, Catch::Contains("15 clouds of 90 points") && Catch::Contains("6 clouds of 90 points"));
  for (const Split split : {Split::train, Split::test}) {
    const auto written = open_point_dataset(out, split);
    PointDatasetOptions options;
    options.points_per_mesh = 100;
    options.cache = shop / "own_cache";
    const auto source = open_point_dataset(shop.data(), split, options);
    REQUIRE(written->class_names() == source->class_names());
    REQUIRE(written->size() == source->size());
    REQUIRE(written->has_normals());
    for (int64_t i = 0; i < written->size(); ++i) {
      const Shape one = written->get(i), other = source->get(i);
      REQUIRE(one.label == other.label);
      REQUIRE(one.points.size(0) == 90);
      // Every row is one of the source's points, with its normal.
      const at::Tensor distance = (one.points.unsqueeze(1) - other.points.unsqueeze(0)).square().sum(2);
      const auto [nearest, row] = distance.min(1);
      REQUIRE(nearest.max().item<float>() == 0.0F);
      require_close(one.normals, other.normals.index_select(0, row), 1e-6, "normals");
    }
  }
  CHECK(Hdf5File(shop / "arrays" / "ply_data_train0.h5").read_int("label").sizes() == at::IntArrayRef({15, 1}));
  shop.refuses({"export", out, "--out", (shop / "arrays" / ".").string()}, 2, {"--out", "is the dataset", "another"});
  shop.run_well(Words{"train", "--data", out, "--out", (shop / "run").string()} + shop.small_training());
}

TEST_CASE("export splits a folder as train does, leaves out broken files when asked, and says what has no normals") {
  const ClassifyShop shop;
  const std::string data = (shop.data() / "train").string(), out = (shop / "arrays").string();
  const auto exported = [&](const Words& more) {
    return shop.run_well(Words{"export", data, "--out", out, "--points-per-mesh", "60", "--points", "50"} + more).out;
  };
  CHECK_THAT(exported({"--test-every", "2"}), Catch::Contains("9 clouds of 50 points, with normals") &&
                                                  Catch::Contains("6 clouds of 50 points, with normals"));
  CHECK_THAT(exported({"--test-every", "0", "--split-order", "name"}), Catch::Contains("15 clouds"));
  write_text(shop.data() / "train" / "sphere" / "sphere_1.xyz", sphere_xyz(1.0, 60, /*normals=*/false));
  write_text(shop.data() / "train" / "cube" / "cube_1.off", "OFF\n");
  CHECK_THAT(exported({"--test-every", "0", "--skip-broken"}),
             Catch::Contains("14 clouds of 50 points, without normals: ") && Catch::Contains("sphere_1.xyz has none"));
}

TEST_CASE("clouds of different size need a number of points") {
  const ClassifyShop shop;
  const std::string data = shop.data().string(), out = (shop / "arrays").string();
  // The sampling of the meshes shows its progress first.
  const auto fails = [&](const Words& more, const Words& words) {
    shop.require_failure(shop.run(Words{"export", data, "--out", out, "--points-per-mesh", "100"} + more), 1, words);
  };
  fails({}, {"--points", "200"});
  fails({"--points", "150"}, {"150 points", "100"});
  shop.refuses({"export", data}, 2, {"--out"});
}

}  // namespace geosft::test::test_export_command
