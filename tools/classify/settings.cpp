// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/settings.h"

#include "data/formats/point_columns.h"

namespace geosft {
namespace {

void add_model(Config& config, ModelSettings& model) {
  add_tokens_key(config, model.tokens);
  model.add_keys(config);
  config.add("model", "head_num_samples", &model.head_bins, "sampled tokens of the classification head", positive)
      .add("model", "canonical_order", &model.canonical_order, "farthest-point order at evaluation")
      .add("model", "head_dropout", &model.head_dropout, "dropout of pooled features", probability_range);
}

}  // namespace

void ClassifyCloudSettings::add_keys(Config& config) {
  CloudSettings::add_keys(config);
  config
      .add("clouds", "test_every", &test_every,
           "folder tree without train and test folders: each so many-th file of a class is test; 0: all are both",
           not_negative)
      .add("clouds", "allow_missing", &allow_missing, "leave out listed shapes whose files are absent")
      .add("clouds", "drop_background", &drop_background, "ScanObjectNN: without the points of the background")
      .add("clouds", "columns", &columns, "of tables of text, such as x,y,z,r,g,b; empty: by header and values")
      .add("clouds", "drop_invalid", &drop_invalid, "leave out points without finite coordinates");
}

Config ClassifySettings::config() {
  Config keys;
  keys.add("", "data", &data, "dataset: furniture, or a folder")
      .add("", "seed", &seed, "of everything random")
      .add("", "workers", &workers, "threads that prepare batches", not_negative);
  clouds.add_keys(keys);
  augment.add_keys(keys);
  add_model(keys, model);
  train.add_keys(keys, "clouds");
  evaluation.add_keys(keys, "clouds");
  return keys;
}

void ClassifySettings::check() const {
  model.check();
  check_cloud_attention(model);
  augment.check();
  const std::string error = columns_error(clouds.columns);
  if (!error.empty()) throw UsageError("--columns: " + error);
}

std::vector<KeyUse> ClassifySettings::key_uses() const {
  return model.key_uses(/*head_samples=*/true);
}

void ClassifySettings::locate_data() {
  data = absolute_source(data).string();
}

void ClassifySettings::take_resumable(const ClassifySettings& other) {
  data = other.data;
  workers = other.workers;
  evaluation = other.evaluation;
  train.take_resumable(other.train);
}

PointClassifierOptions ClassifySettings::classifier(int64_t classes) const {
  PointClassifierOptions options;
  options.classes = classes;
  options.normals = clouds.normals;
  options.tokens = point_tokens_of(model.tokens);
  options.layer = model.layer();
  options.layers = model.layers;
  options.head_sampler = model.sampler(model.head_bins);
  options.head_dropout = model.head_dropout;
  options.canonical_order = model.canonical_order;
  return options;
}

TrainingOptions ClassifySettings::training() const {
  return train.options(seed);
}

PointDatasetOptions ClassifySettings::dataset() const {
  PointDatasetOptions options;
  options.points_per_mesh = clouds.points_per_mesh;
  options.test_every = clouds.test_every;
  options.allow_missing = clouds.allow_missing;
  options.drop_background = clouds.drop_background;
  options.columns = clouds.columns;
  options.drop_invalid = clouds.drop_invalid;
  options.normals = clouds.normals;
  options.seed = seed;
  return options;
}

}  // namespace geosft
