// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/settings.h"

namespace geosft {
namespace {

PointTokens tokens_of(const std::string& name) {
  if (name == "ones") return PointTokens::ones;
  if (name == "radial") return PointTokens::radial;
  if (name == "local") return PointTokens::local;
  if (name == "absolute_local") return PointTokens::absolute_local;
  return PointTokens::absolute;
}

void add_clouds(Config& config, CloudSettings& clouds, AugmentSettings& augment) {
  config.add("clouds", "points", &clouds.points, "points of a cloud that the model sees", positive)
      .add("clouds", "normals", &clouds.normals, "give the model the normals")
      .add("clouds", "points_per_mesh", &clouds.points_per_mesh, "points sampled once from every mesh", positive)
      .add("clouds", "validation_fraction", &clouds.validation_fraction,
           "share of the training set held out to choose the best checkpoint; 0: the last one is the best",
           probability_range)
      .add("clouds", "monitor_test", &clouds.monitor_test,
           "show the test set in the learning curves (it never chooses a checkpoint)")
      .add("clouds", "test_every", &clouds.test_every,
           "folder tree without train and test folders: each so many-th file of a class is test; 0: all are both",
           not_negative)
      .add("clouds", "allow_missing", &clouds.allow_missing, "leave out listed shapes whose files are absent")
      .add("clouds", "drop_background", &clouds.drop_background, "ScanObjectNN: without the points of the background")
      .add("augment", "scale_low", &augment.scale_low, "smallest random scale factor", above_zero)
      .add("augment", "scale_high", &augment.scale_high, "largest random scale factor", above_zero)
      .add("augment", "stretch", &augment.stretch, "spread of the random log factors along the axes", not_negative)
      .add("augment", "jitter", &augment.jitter, "deviation of the noise on coordinates", not_negative)
      .add_choice("augment", "rotate_training", &augment.rotate, {"none", "z", "so3"}, "rotate training clouds")
      .add("augment", "drop_tokens", &augment.drop_tokens, "share of the points that training leaves out",
           probability_range);
}

void add_model(Config& config, ModelSettings& model) {
  config.add_choice("model", "tokens", &model.tokens, {"ones", "radial", "local", "absolute", "absolute_local"},
                    "input tokens; all but the absolute ones are invariant to rotation");
  model.add_keys(config);
  config.add("model", "head_bins", &model.head_bins, "sampled tokens of the classification head", positive)
      .add("model", "canonical_order", &model.canonical_order, "farthest-point order at evaluation")
      .add("model", "head_dropout", &model.head_dropout, "dropout of pooled features", probability_range);
}

}  // namespace

Config ClassifySettings::config() {
  Config keys;
  keys.add("", "data", &data, "dataset: furniture, or a folder")
      .add("", "seed", &seed, "of everything random")
      .add("", "workers", &workers, "threads that prepare batches", not_negative);
  add_clouds(keys, clouds, augment);
  add_model(keys, model);
  train.add_keys(keys, "clouds");
  evaluation.add_keys(keys, "clouds");
  return keys;
}

void ClassifySettings::check() const {
  model.check();
  if (model.on_grid())
    throw UsageError("attention " + model.attention + " needs tokens on a grid, which points are not");
  if (model.sparse() && model.primal.mask == "neighbours") {
    throw UsageError("mask must not be neighbours: clouds have no edges; nearest has the nearest points");
  }
  if (augment.scale_low > augment.scale_high) {
    throw UsageError("scale_low must not be above scale_high: " + std::to_string(augment.scale_low) + " and " +
                     std::to_string(augment.scale_high));
  }
}

PointClassifierOptions ClassifySettings::classifier(int64_t classes) const {
  PointClassifierOptions options;
  options.classes = classes;
  options.normals = clouds.normals;
  options.tokens = tokens_of(model.tokens);
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
  options.seed = seed;
  return options;
}

}  // namespace geosft
