// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_settings.h"

#include "data/formats/point_columns.h"

namespace geosft {

void CloudSettings::add_keys(Config& config) {
  config.add("clouds", "points", &points, "points of a cloud that the model sees", positive)
      .add("clouds", "normals", &normals, "give the model the normals; clouds without any get estimated ones")
      .add_enum("clouds", "normal_orientation", &normal_orientation,
                "signs of estimated normals: away from the centroid, or alike for neighbours")
      .add("clouds", "points_per_mesh", &points_per_mesh, "points sampled once from every mesh", positive)
      .add_enum("clouds", "point_sampling", &point_sampling,
                "which points of a larger cloud the model sees: new random ones each time, or farthest-point sampling")
      .add("clouds", "max_per_class", &max_per_class,
           "training clouds of each class that are used, sampled with the seed; 0: all", not_negative)
      .add("clouds", "validation_fraction", &validation_fraction,
           "share of the training set held out to choose the best checkpoint; 0: the last one is the best; auto: 0.1, "
           "or 0 where this is fewer than 30 clouds",
           probability_range)
      .add("clouds", "monitor_test", &monitor_test,
           "show the test set in the learning curves (it never chooses a checkpoint)")
      .allow_automatic({"validation_fraction"});
}

void CloudSettings::add_reading_keys(Config& config) {
  config.add("clouds", "columns", &columns, "of tables of text, such as x,y,z,r,g,b; empty: by header and values")
      .add("clouds", "drop_invalid", &drop_invalid, "leave out points without finite coordinates");
}

void CloudSettings::check() const {
  const std::string error = columns_error(columns);
  if (!error.empty()) throw UsageError("--columns: " + error);
}

std::vector<KeyUse> reading_key_uses(const std::string& columns, bool drop_invalid, const std::string& data,
                                     FindReadOptionUse* find) {
  const bool some = !columns.empty() || drop_invalid;
  const ReadOptionUse use = some ? find(data) : ReadOptionUse{};
  const std::string instead = data.empty() ? "furniture" : data;
  return {{{"columns"}, columns.empty() || use.columns, "tables of text and NumPy arrays", instead},
          {{"drop_invalid"}, !drop_invalid || use.drop_invalid, "files of points", instead}};
}

void refuse_unused_reading(const std::string& columns, bool drop_invalid, const std::string& data,
                           FindReadOptionUse* find) {
  for (const KeyUse& use : reading_key_uses(columns, drop_invalid, data, find)) {
    if (!use.used) throw UsageError(use.unused_text(option_name(use.keys.front())));
  }
}

void AugmentSettings::add_keys(Config& config) {
  config.add("augment", "scale_low", &scale_low, "smallest random scale factor", above_zero)
      .add("augment", "scale_high", &scale_high, "largest random scale factor", above_zero)
      .add("augment", "stretch", &stretch, "spread of the random log factors along the axes", not_negative)
      .add("augment", "jitter", &jitter, "deviation of the noise on coordinates", not_negative)
      .add_enum("augment", "rotate_training", &rotate, "rotate training clouds")
      .add("augment", "drop_token_rate", &drop_token_rate, "share of the points that training leaves out",
           probability_range)
      .add(
          "augment", "estimated_normals", &estimated_normals,
          "share of the training clouds, drawn anew each time, whose normals are estimated from their points, as those "
          "of scans are; eval --estimated-normals does so with all clouds, and predict with files that have no normals "
          "(of a model trained with 1: with all files)",
          Range{.low = 0, .high = 1});
}

void AugmentSettings::check() const {
  if (scale_low <= scale_high) return;
  throw UsageError("scale_low must not be above scale_high: " + std::to_string(scale_low) + " and " +
                   std::to_string(scale_high));
}

void PointModelSettings::add_keys(Config& config) {
  config.add_enum("model", "tokens", &tokens, "input tokens; all but the absolute ones are invariant to rotation")
      .add_enum(
          "model", "relative", &relative,
          "what attention sees of two points: squared distance and product of normals (paper), or also the angles "
          "of both normals to the line between them")
      .add("model", "chirality", &chirality,
           "with relative angles, also the triple product, which tells a shape from its mirror image")
      .add_enum("model", "initialization", &initialization, "initial weights of attention");
  EncoderSettings::add_keys(config);
}

void PointModelSettings::add_order_key(Config& config) {
  config.add("model", "canonical_order", &canonical_order,
             "farthest-point order at evaluation, of clouds in a pose of their own");
}

void PointModelSettings::check(bool normals) const {
  EncoderSettings::check();
  if (relative == PointRelative::angles && !normals) {
    throw UsageError("relative angles needs normals, which normals = false leaves out");
  }
  if (chirality && relative != PointRelative::angles) throw UsageError("chirality needs relative angles, not paper");
  if (on_grid()) throw UsageError("attention " + attention + " needs tokens on a grid, which points are not");
  if (sparse() && primal.mask == MaskKind::neighbours) {
    throw UsageError("mask must not be neighbours: clouds have no edges; nearest has the nearest points");
  }
}

std::vector<KeyUse> PointModelSettings::key_uses(bool head_samples) const {
  std::vector<KeyUse> uses = EncoderSettings::key_uses(head_samples);
  const bool samples = kind() == AttentionKind::sampling;
  uses.push_back({{"relative", "chirality"}, samples, "attention sampling", "attention " + attention});
  return uses;
}

std::string small_preset_text(const SmallPreset& own) {
  const std::pair<std::string, const char*> sections[] = {
      {"[clouds]\nvalidation_fraction = 'auto'\n", own.clouds},
      {"[augment]\nscale_low = 0.8\nscale_high = 1.25\njitter = 0.005\n", own.augment},
      {"[model]\ntokens = 'local'\ndim = 'auto'\nnum_heads = 'auto'\ndepth = 'auto'\nnum_samples = 'auto'\n"
       "norm = 'pre'\nscore_dropout = 0.0\ntoken_dropout = 0.0\nfeed_forward_dropout = 0.1\n",
       own.model},
      {"[train]\nepochs = 'auto'\nbatch_size = 'auto'\nlr = 2e-3\nweight_decay = 0.05\nbeta2 = 0.98\n"
       "schedule = 'cosine'\nema_decay = 'auto'\nvalidate_every = 5\ncheckpoint_every = 10\n",
       own.train},
      {"[evaluation]\n", own.evaluation},
  };
  std::string text;
  for (const auto& [shared, of_task] : sections) text += shared + of_task;
  return text;
}

}  // namespace geosft
