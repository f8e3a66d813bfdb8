// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/experiment/segment_settings.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/data/files.h"
#include "tests/data/points/part_files.h"
#include "tests/support.h"
#include "tests/tools/experiment/unused_options.h"

namespace geosft::test::test_segment_settings {
namespace {

// Every key with a value that is not its default, but for the keys that all tools share.
const std::string own_keys = first_cloud_keys + R"(validation_fraction = 0.25
monitor_test = true
block = 60
published_validation = true
columns = "x,y,z,r,g,b"
drop_invalid = true
normal_orientation = "consistent"
[augment]
estimated_normals = 0.25
drop_token_rate = 0.75
[model]
tokens = "local"
relative = "angles"
chirality = true
initialization = "paper"
dim = 24
num_heads = 6
depth = 5
category = false
canonical_order = false
[train]
epochs = 12
[evaluation]
votes = 17
)";

}  // namespace

TEST_CASE("keys of a segmentation change it and survive the round trip") {
  SegmentSettings defaults, settings;
  settings.config().set_text(own_keys);
  const std::string toml = settings.config().to_toml();
  const std::set<std::string> before = key_lines(defaults.config().to_toml());
  for (const std::string& line : key_lines(own_keys)) {
    INFO(line);
    CHECK(before.count(line) == 0);
    CHECK(key_lines(toml).count(line) == 1);
  }
  SegmentSettings again;
  again.config().set_text(toml);
  CHECK(again.config().to_toml() == toml);
  const PointSegmenterOptions options = settings.segmenter(9, 3);
  CHECK(options.parts == 9);
  CHECK(options.categories == 0);
  CHECK_FALSE(options.normals);
  CHECK(options.tokens == PointTokens::local);
  CHECK(options.relative == PointRelative::angles);
  CHECK(options.chirality);
  CHECK(options.layer.attention.width == 24);
  CHECK(options.layer.attention.initialization == Initialization::paper);
  CHECK(settings.clouds.point_sampling == PointSampling::fps);
  CHECK(options.layers == 5);
  CHECK_FALSE(options.canonical_order);
  CHECK(defaults.segmenter(9, 3).categories == 3);
  CHECK(settings.reading().columns == "x,y,z,r,g,b");
  CHECK(settings.reading().drop_invalid);
  CHECK(settings.training().epochs == 12);
  CHECK(settings.training().seed == 7);
}

TEST_CASE("options of a segmentation that nothing uses are refused") {
  const auto said = [](const std::vector<std::string>& options) {
    return said_of_unused<SegmentSettings>("[model]\nattention = 'softmax'\nbins = 4\n", options);
  };
  CHECK(said({"--num-samples", "4"}) == "--num-samples is for attention sampling, not for attention softmax");
  CHECK(said({"--tau", "2"}) == "--tau is for sampling, not for attention softmax");
}

TEST_CASE("options of reading texts are refused for arrays of parts") {
  const TemporaryFolder folder;
  const std::string arrays = (folder / "arrays").string(), text = (folder / "text").string();
  write_part_set(arrays);
  write_shapenet_text(text);
  const auto said = [](const std::string& data, const std::vector<std::string>& options) {
    return said_of_unused<SegmentSettings>("data = '" + data + "'", options);
  };
  const std::string columns = "--columns is for tables of text and NumPy arrays, not for ";
  CHECK(said(arrays, {"--columns", "x,y,z"}) == columns + arrays);
  CHECK(said(arrays, {"--drop-invalid"}) == "--drop-invalid is for files of points, not for " + arrays);
  CHECK(said(text, {"--columns", "x,y,z"}) == columns + text);  // its columns are those of the form
  CHECK(said(text, {"--drop-invalid"}).empty());
  write_older_shapenet_text(folder / "older");
  CHECK(said((folder / "older").string(), {"--columns", "x,y,z", "--drop-invalid"}).empty());
  CHECK(said((folder / "none").string(), {"--columns", "x,y,z", "--drop-invalid"}).empty());
}

TEST_CASE("values of a segmentation that contradict each other are refused") {
  SegmentSettings settings;
  settings.check();
  settings.clouds.published_validation = true;
  settings.check();
  settings.clouds.validation_fraction = 0.5;
  require_error([&] { settings.check(); }, {"published_validation", "validation_fraction", "0.5"});
  settings = {};
  settings.model.num_heads = 3;
  require_error([&] { settings.check(); }, {"heads", "3"});
  settings = {};
  settings.augment.scale_low = 9;
  require_error([&] { settings.check(); }, {"scale_low"});
  settings = {};
  settings.model.attention = "conv2d";
  require_error([&] { settings.check(); }, {"attention", "conv2d", "grid"});
}

TEST_CASE("the configurations for parts load, and those of the paper are its tables'") {
  const std::filesystem::path folder = source_path("tools/configs");
  for (const char* name : {"psb_parts", "psb_parts_absolute", "shapenet_part", "shapenet_part_invariant"}) {
    INFO(name);
    SegmentSettings settings;
    settings.config().load_toml(folder / (std::string(name) + ".toml"));
    settings.check();
    CHECK_FALSE(settings.clouds.monitor_test);
    const bool absolute = settings.segmenter(2, 2).tokens == PointTokens::absolute ||
                          settings.segmenter(2, 2).tokens == PointTokens::absolute_local;
    CHECK(absolute == (std::string(name) == "psb_parts_absolute" || std::string(name) == "shapenet_part"));
    if (std::string(name).rfind("shapenet", 0) != 0) continue;
    CHECK(settings.train.epochs == (absolute ? 600 : 1000));
    CHECK(settings.train.batch_size == 32);
    CHECK((settings.train.optimization.learning_rate == 1e-3 && settings.train.optimization.weight_decay == 0.1));
    CHECK((settings.train.optimization.decay_every == 30 && settings.train.optimization.decay == 0.8));
    CHECK(settings.train.optimization.max_gradient_norm == 1.0);
    CHECK((settings.clouds.normals && settings.model.category));
    CHECK((settings.augment.scale_low == 0.6 && settings.augment.scale_high == 1.4));
    CHECK((settings.model.dim == 256 && settings.model.num_heads == 16));
    CHECK((settings.model.score_dropout == 0.1 && settings.model.token_dropout == 0.1));
    CHECK(settings.model.feed_forward_dropout == 0.2);
    CHECK(settings.clouds.points == 2500);
    CHECK(settings.augment.drop_token_rate == 0.2);
    CHECK(settings.model.sampling.num_samples == 256);
    CHECK(settings.model.depth == 8);
    CHECK(settings.model.norm == NormPlacement::post);
  }
}

}  // namespace geosft::test::test_segment_settings
