// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/classify_settings.h"

#include "geometry/augment.h"

namespace geosft {

void ClassifyCloudSettings::add_keys(Config& config) {
  CloudSettings::add_keys(config);
  config
      .add("clouds", "test_every", &test_every,
           "folder tree without train and test folders: one in so many files of a class is test; 0: all are both",
           not_negative)
      .add_enum("clouds", "split_order", &split_order,
                "which files these are: by a hash of their names, as good as at random, or every so many-th by name")
      .add("clouds", "allow_missing", &allow_missing, "leave out listed shapes whose files are absent")
      .add("clouds", "drop_background", &drop_background, "ScanObjectNN: without the points of the background")
      .add("clouds", "skip_broken", &skip_broken, "leave out files that cannot be read, and name them")
      .add("clouds", "kernel_ridge", &kernel_ridge,
           "average the logits with those of a kernel ridge regression on histograms of point pairs");
  add_reading_keys(config);
}

void ClassifyModelSettings::add_keys(Config& config) {
  PointModelSettings::add_keys(config);
  config.add("model", "head_num_samples", &head_num_samples, "sampled tokens of the classification head", positive)
      .add("model", "head_as_trained", &head_as_trained,
           "sample no more in evaluation than training has, where drop_token_rate leaves fewer tokens");
  add_order_key(config);
  config.add("model", "head_dropout", &head_dropout, "dropout of pooled features", probability_range);
}

std::vector<KeyUse> ClassifySettings::key_uses() const {
  return CloudExperimentSettings::key_uses(/*head_samples=*/true, kReadOptionUse);
}

PointClassifierOptions ClassifySettings::classifier(int64_t classes) const {
  auto options = model_options<PointClassifierOptions>();
  options.classes = classes;
  options.head_sampler = model.sampler(model.head_num_samples);
  if (model.head_as_trained && augment.drop_token_rate > 0) {
    const int64_t kept = rows_kept(clouds.points, augment.drop_token_rate);
    options.head_sampler.num_samples = sample_count(kept, options.head_sampler);
  }
  options.head_dropout = model.head_dropout;
  return options;
}

PointDatasetOptions ClassifySettings::dataset() const {
  PointDatasetOptions options;
  options.points_per_mesh = clouds.points_per_mesh;
  options.test_every = clouds.test_every;
  options.split_order = clouds.split_order;
  options.allow_missing = clouds.allow_missing;
  options.drop_background = clouds.drop_background;
  options.columns = clouds.columns;
  options.drop_invalid = clouds.drop_invalid;
  options.normals = clouds.normals;
  options.seed = seed;
  return options;
}

std::string ClassifySettings::small_preset() {
  return small_preset_text({.clouds = "points = 256\n",
                            .augment = "stretch = 0.25\n",
                            .model = "head_num_samples = \"auto\"\n",
                            .train = "label_smoothing = 0.1\n",
                            .evaluation = "votes = 10\n"});
}

}  // namespace geosft
