// SPDX-License-Identifier: Apache-2.0
// That every key works is tested with the tools' whole configurations.
#include "tools/experiment/cloud_settings.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_cloud_settings {

TEST_CASE("sections of clouds and augmentation are read and written") {
  CloudSettings clouds;
  AugmentSettings augment;
  Config config;
  clouds.add_keys(config);
  augment.add_keys(config);
  config.set_text(
      "[clouds]\npoints = 7\nnormals = false\npoint_sampling = \"fps\"\n[augment]\nrotate_training = \"z\"\njitter = "
      "0.5\n");
  CHECK(clouds.points == 7);
  CHECK_FALSE(clouds.normals);
  CHECK(clouds.point_sampling == PointSampling::fps);
  CHECK(augment.rotate == Rotation::z);
  CHECK(augment.jitter == 0.5);
  require_error([&] { config.set_text("[clouds]\npoints = 0\n"); }, {"points", "0"});
  require_error([&] { config.set_text("[augment]\nrotate_training = \"x\"\n"); }, {"rotate_training", "so3"});
}

TEST_CASE("a range of scales that is empty is refused") {
  AugmentSettings augment{.scale_low = 0.75, .scale_high = 0.75};
  augment.check();
  augment.scale_high = 0.5;
  require_error([&] { augment.check(); }, {"scale_low", "scale_high", "0.75", "0.5"});
}

TEST_CASE("columns that name no table are refused") {
  CloudSettings clouds{.columns = "x,y,z,r,g,b"};
  clouds.check();
  clouds.columns = "x,y";
  require_error([&] { clouds.check(); }, {"--columns", "x, y and z", "x,y"});
}

TEST_CASE("tokens are known by the names of their key") {
  PointModelSettings model;
  Config config;
  model.add_keys(config);
  config.set_text("[model]\ntokens = \"absolute_local\"\n");
  CHECK(model.tokens == PointTokens::absolute_local);
  config.set_text("[model]\ntokens = \"ppf\"\ninitialization = \"paper\"\n");
  CHECK(model.tokens == PointTokens::ppf);
  CHECK(model.initialization == Initialization::paper);
  require_error([&] { config.set_text("[model]\ninitialization = \"xavier\"\n"); }, {"initialization", "paper"});
  require_error([&] { config.set_text("[model]\ntokens = \"colours\"\n"); }, {"tokens", "radial"});
}

}  // namespace geosft::test::test_cloud_settings
