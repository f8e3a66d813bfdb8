// SPDX-License-Identifier: Apache-2.0
// Settings shared by all tools for point clouds: one TOML file, one command-line option per key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/points/point_dataset.h"
#include "geometry/augment_options.h"
#include "geometry/normals.h"
#include "models/ops/point_tokens.h"
#include "models/point_encoding.h"
#include "tools/experiment/automatic_sizes.h"
#include "tools/experiment/experiment_settings.h"

namespace geosft {

GEOSFT_ENUM_NAMES(Rotation, none, z, so3);
GEOSFT_ENUM_NAMES(NormalOrientation, outward, consistent);
// Which points of a large cloud a model sees: a random subset in each epoch and vote, or those of farthest-point
// sampling, the same ones each time.
enum class PointSampling { random, fps };
GEOSFT_ENUM_NAMES(PointSampling, random, fps);
template <>
inline constexpr auto enum_table<Initialization> = std::to_array<EnumName<Initialization>>(
    {{"default", Initialization::standardized}, {"paper", Initialization::paper}});
GEOSFT_ENUM_NAMES(PointTokens, ones, radial, local, shape_context, ppf, absolute, absolute_local);
GEOSFT_ENUM_NAMES(PointRelative, paper, angles);

// Section [clouds].
struct CloudSettings {
  int64_t points = 1024;                                              // per cloud, as input of the model
  bool normals = true;                                                // pass normals to the model
  NormalOrientation normal_orientation = NormalOrientation::outward;  // of estimated ones (former_value)
  int64_t points_per_mesh = 4096;  // sampled once per mesh; subsets are sampled from these
  PointSampling point_sampling = PointSampling::random;
  int64_t max_per_class = 0;                               // training clouds of each class; 0: all
  double validation_fraction = automatic_value<double>();  // see CloudTrainingData
  bool monitor_test = false;
  std::string columns = {};   // of tables of text, see ShapeReadOptions
  bool drop_invalid = false;  // drop points without finite coordinates

  void add_keys(Config& config);
  // Adds the keys that tell how files are read; they follow the keys of a task.
  void add_reading_keys(Config& config);
  // Throws UsageError for columns that do not name a table.
  void check() const;
};

// Tells which options of reading have an effect on the dataset at `source`.
using FindReadOptionUse = ReadOptionUse(const std::filesystem::path& source);
// Returns the uses of the keys of CloudSettings::add_reading_keys, which have these values, for a dataset.
std::vector<KeyUse> reading_key_uses(const std::string& columns, bool drop_invalid, const std::string& data,
                                     FindReadOptionUse* find);
// Throws UsageError for one of these options that is given and has no effect on the dataset, as Config::refuse_unused
// does: "--drop-invalid is for files of points, not for DATA".
void refuse_unused_reading(const std::string& columns, bool drop_invalid, const std::string& data,
                           FindReadOptionUse* find);

// Section [augment].
struct AugmentSettings {
  double scale_low = 0.6, scale_high = 1.4;
  double jitter = 0.0, stretch = 0.0;
  Rotation rotate = Rotation::none;
  double drop_token_rate = 0.0;
  double estimated_normals = 0.0;  // share of the clouds, see estimated_normals.h

  void add_keys(Config& config);
  // Throws UsageError naming the keys that contradict each other.
  void check() const;
  // Returns whether no training cloud has other normals. A training on clouds without any sets the share to 1.
  bool only_estimated_normals() const { return estimated_normals >= 1.0; }
};

// Section [model].
struct PointModelSettings : EncoderSettings {
  PointTokens tokens = PointTokens::radial;
  PointRelative relative = PointRelative::paper;
  bool chirality = false;
  Initialization initialization = Initialization::standardized;
  bool canonical_order = true;

  // The number of samples of the head, of a model that has one; hidden by such a model's own.
  static constexpr int64_t* head_samples() { return nullptr; }
  void add_keys(Config& config);
  // Returns whether an evaluation turns clouds into a pose of their own (geometry/canonical_pose.h), which changes only
  // the rounding of a model without absolute tokens.
  bool canonical_pose() const {
    return canonical_order && tokens != PointTokens::absolute && tokens != PointTokens::absolute_local;
  }
  // Adds the key `canonical_order`; it follows the first keys of a task.
  void add_order_key(Config& config);
  // Throws UsageError also if the attention needs tokens on a grid, or edges: clouds have neither. `normals`: whether
  // the clouds have normals.
  void check(bool normals) const;
  // As in EncoderSettings.
  std::vector<KeyUse> key_uses(bool head_samples) const;
};

// Holds what a task adds to the small preset, as lines of TOML.
struct SmallPreset {
  const char *clouds, *augment, *model = "", *train = "", *evaluation;
};
// Returns the values, as TOML, of a training of clouds without a configuration file.
std::string small_preset_text(const SmallPreset& own);

// All settings of an experiment with point clouds. Clouds is a CloudSettings and Model a PointModelSettings with the
// keys of a task.
template <class Clouds, class Model>
struct CloudExperimentSettings {
  std::string data;
  uint64_t seed = 0;
  int64_t workers = 1;
  Clouds clouds;
  AugmentSettings augment;
  Model model;
  TrainSettings train;
  EvaluationSettings evaluation;

  // Returns a configuration whose targets are these members; it refers to this object.
  Config config(const std::string& data_help);
  // Checks combinations of keys. Throws UsageError naming the keys and their values.
  void check() const;
  // Copies the settings that do not affect the steps of a run: the location of the data, how often it is evaluated and
  // saved, and the number of epochs, to which a cosine schedule is adapted.
  void take_resumable(const CloudExperimentSettings& other);

  // Lists the keys that are used only with some values of other keys, or with some datasets. `head_samples`: as in
  // EncoderSettings; `find` is that of the task.
  std::vector<KeyUse> key_uses(bool head_samples, FindReadOptionUse* find) const;

  TrainingOptions training() const { return train.options(seed); }
  // Returns whether keys are automatic that resolve() sets.
  bool has_automatic() const { return has_automatic_sizes(model, model.head_samples(), train); }
  // Sets automatic keys but validation_fraction by the number of training clouds (automatic_sizes.h); `small` are the
  // sizes of the task. Returns them as text. Throws UsageError, as check() does.
  std::string resolve(int64_t training_clouds, const SmallSizes& small);
  // Returns the options that the models of all tasks have.
  template <class ModelOptions>
  ModelOptions model_options() const;
};

template <class Clouds, class Model>
Config CloudExperimentSettings<Clouds, Model>::config(const std::string& data_help) {
  Config keys;
  keys.add("", "data", &data, data_help)
      .add("", "seed", &seed, "of everything random")
      .add("", "workers", &workers, "threads that prepare batches", not_negative);
  clouds.add_keys(keys);
  augment.add_keys(keys);
  model.add_keys(keys);
  train.add_keys(keys, "clouds");
  evaluation.add_keys(keys, "clouds");
  keys.allow_automatic({"dim", "num_heads", "depth", "num_samples", "batch_size", "epochs", "ema_decay"});
  if (model.head_samples() != nullptr) keys.allow_automatic({"head_num_samples"});
  return keys;
}

template <class Clouds, class Model>
void CloudExperimentSettings<Clouds, Model>::check() const {
  model.check(clouds.normals);
  augment.check();
  if (augment.estimated_normals > 0 && !clouds.normals) {
    throw UsageError("estimated_normals needs normals, which normals = false leaves out");
  }
  clouds.check();
}

template <class Clouds, class Model>
std::vector<KeyUse> CloudExperimentSettings<Clouds, Model>::key_uses(bool head_samples, FindReadOptionUse* find) const {
  std::vector<KeyUse> uses = reading_key_uses(clouds.columns, clouds.drop_invalid, data, find);
  const std::vector<KeyUse> more = train.with_key_uses(model.key_uses(head_samples));
  uses.insert(uses.end(), more.begin(), more.end());
  return uses;
}

template <class Clouds, class Model>
std::string CloudExperimentSettings<Clouds, Model>::resolve(int64_t training_clouds, const SmallSizes& small) {
  std::string chosen = resolve_sizes(model, model.head_samples(), train, training_clouds, small);
  model.check(clouds.normals);
  return chosen;
}

template <class Clouds, class Model>
void CloudExperimentSettings<Clouds, Model>::take_resumable(const CloudExperimentSettings& other) {
  data = other.data;
  workers = other.workers;
  evaluation = other.evaluation;
  train.take_resumable(other.train);
}

template <class Clouds, class Model>
template <class ModelOptions>
ModelOptions CloudExperimentSettings<Clouds, Model>::model_options() const {
  ModelOptions options;
  options.normals = clouds.normals;
  options.tokens = model.tokens;
  options.relative = model.relative;
  options.chirality = model.chirality;
  options.layer = model.layer();
  options.layer.attention.initialization = model.initialization;
  options.layers = model.depth;
  options.canonical_order = model.canonical_order;
  return options;
}

}  // namespace geosft
