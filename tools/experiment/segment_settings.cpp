// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/segment_settings.h"

#include <filesystem>

namespace geosft {

void SegmentCloudSettings::add_keys(Config& config) {
  CloudSettings::add_keys(config);
  config
      .add("clouds", "block", &block,
           "points of a cloud that an evaluation sees at once, drawn from all over it, until each point has been seen; "
           "0: all",
           not_negative)
      .add("clouds", "published_validation", &published_validation,
           "choose the best checkpoint by the set's own validation split, instead of training on it");
  add_reading_keys(config);
}

void SegmentModelSettings::add_keys(Config& config) {
  PointModelSettings::add_keys(config);
  config.add("model", "category", &category, "tell the model the class of a shape, as a one-hot input of its points");
  add_order_key(config);
}

void SegmentSettings::check() const {
  CloudExperimentSettings::check();
  if (clouds.published_validation && clouds.validation_fraction > 0) {
    throw UsageError("published_validation leaves no room for validation_fraction: " +
                     std::to_string(clouds.validation_fraction));
  }
}

std::vector<KeyUse> SegmentSettings::key_uses() const {
  return CloudExperimentSettings::key_uses(/*head_samples=*/false, kReadOptionUse);
}

void SegmentSettings::locate_data() {
  if (data.empty()) throw UsageError("--data DIR is required: the dataset");
  data = std::filesystem::absolute(data).lexically_normal().string();
}

void SegmentSettings::take_resumable(const SegmentSettings& other) {
  CloudExperimentSettings::take_resumable(other);
  clouds.block = other.clouds.block;
}

PointSegmenterOptions SegmentSettings::segmenter(int64_t parts, int64_t classes) const {
  auto options = model_options<PointSegmenterOptions>();
  options.parts = parts;
  options.categories = model.category ? classes : 0;
  return options;
}

std::string SegmentSettings::small_preset() {
  return small_preset_text(
      {.clouds = "points = 512\nblock = 512\n", .augment = "stretch = 0.2\n", .evaluation = "votes = 4\n"});
}

}  // namespace geosft
