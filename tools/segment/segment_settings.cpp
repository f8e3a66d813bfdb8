// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_settings.h"

namespace geosft {

void SegmentCloudSettings::add_keys(Config& config) {
  CloudSettings::add_keys(config);
  config
      .add("clouds", "block", &block,
           "points of a cloud that an evaluation sees at once, drawn from all over it, until each point has been seen; "
           "0: all",
           not_negative)
      .add("clouds", "published_validation", &published_validation,
           "choose the best checkpoint by the set's own validation part, instead of training on it");
}

void SegmentModelSettings::add_keys(Config& config) {
  add_tokens_key(config, tokens);
  EncoderSettings::add_keys(config);
  config.add("model", "category", &category, "tell the model the class of a shape, as a one-hot input of its points")
      .add("model", "canonical_order", &canonical_order, "farthest-point order at evaluation");
}

Config SegmentSettings::config() {
  Config keys;
  keys.add("", "data", &data, "dataset: a folder")
      .add("", "seed", &seed, "of everything random")
      .add("", "workers", &workers, "threads that prepare batches", not_negative);
  clouds.add_keys(keys);
  augment.add_keys(keys);
  model.add_keys(keys);
  train.add_keys(keys, "clouds");
  evaluation.add_keys(keys, "clouds");
  return keys;
}

void SegmentSettings::check() const {
  model.check();
  check_cloud_attention(model);
  augment.check();
  if (clouds.published_validation && clouds.validation_fraction > 0) {
    throw UsageError("published_validation leaves no room for validation_fraction: " +
                     std::to_string(clouds.validation_fraction));
  }
}

std::vector<KeyUse> SegmentSettings::key_uses() const {
  return model.key_uses(/*head_samples=*/false);
}

void SegmentSettings::locate_data() {
  if (data.empty()) throw UsageError("--data DIR is required: the dataset");
  data = std::filesystem::absolute(data).lexically_normal().string();
}

void SegmentSettings::take_resumable(const SegmentSettings& other) {
  data = other.data;
  workers = other.workers;
  clouds.block = other.clouds.block;
  evaluation = other.evaluation;
  train.take_resumable(other.train);
}

PointSegmenterOptions SegmentSettings::segmenter(int64_t parts, int64_t classes) const {
  PointSegmenterOptions options;
  options.parts = parts;
  options.categories = model.category ? classes : 0;
  options.normals = clouds.normals;
  options.tokens = point_tokens_of(model.tokens);
  options.layer = model.layer();
  options.layers = model.layers;
  options.canonical_order = model.canonical_order;
  return options;
}

TrainingOptions SegmentSettings::training() const {
  return train.options(seed);
}

}  // namespace geosft
