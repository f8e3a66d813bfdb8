// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_settings.h"

namespace geosft {

void CloudSettings::add_keys(Config& config) {
  config.add("clouds", "points", &points, "points of a cloud that the model sees", positive)
      .add("clouds", "normals", &normals, "give the model the normals")
      .add("clouds", "points_per_mesh", &points_per_mesh, "points sampled once from every mesh", positive)
      .add("clouds", "max_per_class", &max_per_class,
           "training clouds of each class that are used, sampled with the seed; 0: all", not_negative)
      .add("clouds", "validation_fraction", &validation_fraction,
           "share of the training set held out to choose the best checkpoint; 0: the last one is the best",
           probability_range)
      .add("clouds", "monitor_test", &monitor_test,
           "show the test set in the learning curves (it never chooses a checkpoint)");
}

void AugmentSettings::add_keys(Config& config) {
  config.add("augment", "scale_low", &scale_low, "smallest random scale factor", above_zero)
      .add("augment", "scale_high", &scale_high, "largest random scale factor", above_zero)
      .add("augment", "stretch", &stretch, "spread of the random log factors along the axes", not_negative)
      .add("augment", "jitter", &jitter, "deviation of the noise on coordinates", not_negative)
      .add_choice("augment", "rotate_training", &rotate, {"none", "z", "so3"}, "rotate training clouds")
      .add("augment", "drop_token_rate", &drop_tokens, "share of the points that training leaves out",
           probability_range);
}

void AugmentSettings::check() const {
  if (scale_low <= scale_high) return;
  throw UsageError("scale_low must not be above scale_high: " + std::to_string(scale_low) + " and " +
                   std::to_string(scale_high));
}

void check_cloud_attention(const EncoderSettings& model) {
  if (model.on_grid()) {
    throw UsageError("attention " + model.attention + " needs tokens on a grid, which points are not");
  }
  if (model.sparse() && model.primal.mask == "neighbours") {
    throw UsageError("mask must not be neighbours: clouds have no edges; nearest has the nearest points");
  }
}

void add_tokens_key(Config& config, std::string& tokens) {
  config.add_choice("model", "tokens", &tokens, {"ones", "radial", "local", "absolute", "absolute_local"},
                    "input tokens; all but the absolute ones are invariant to rotation");
}

PointTokens point_tokens_of(const std::string& name) {
  if (name == "ones") return PointTokens::ones;
  if (name == "radial") return PointTokens::radial;
  if (name == "local") return PointTokens::local;
  if (name == "absolute_local") return PointTokens::absolute_local;
  TORCH_CHECK(name == "absolute", "tokens must be ones, radial, local, absolute or absolute_local, not ", name);
  return PointTokens::absolute;
}

}  // namespace geosft
