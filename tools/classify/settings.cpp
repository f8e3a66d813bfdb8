// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/settings.h"

namespace geosft {
namespace {

constexpr Range positive{.low = 1};
constexpr Range not_negative{.low = 0};
constexpr Range probability_range{.low = 0, .high = 1, .open_high = true};
constexpr Range above_zero{.low = 0, .open_low = true};

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
  config
      .add_choice("model", "tokens", &model.tokens, {"ones", "radial", "local", "absolute", "absolute_local"},
                  "input tokens; all but the absolute ones are invariant to rotation")
      .add("model", "width", &model.width, "channels of a token (d)", positive)
      .add("model", "heads", &model.heads, "attention heads (h), a divisor of width", positive)
      .add("model", "layers", &model.layers, "transformer layers", positive)
      .add("model", "bins", &model.bins, "sampled tokens of a layer (k)", positive)
      .add("model", "head_bins", &model.head_bins, "sampled tokens of the classification head", positive)
      .add_choice("model", "norm", &model.norm, {"pre", "post"}, "where layers normalise")
      .add_choice("model", "score", &model.score, {"maxout", "dot"}, "attention score")
      .add_choice("model", "probability", &model.probability, {"leaky_relu", "softmax"}, "attention probability")
      .add_choice("model", "weighting", &model.weighting, {"softplus", "gumbel_softmax"}, "weights within a bin")
      .add("model", "tau", &model.tau, "temperature of the sampler", above_zero)
      .add("model", "hard", &model.hard, "sample the winner of a bin instead of the weighted sum")
      .add("model", "with_replacement", &model.with_replacement, "sample with replacement")
      .add("model", "noise", &model.noise, "Gumbel noise on the scores")
      .add("model", "canonical_order", &model.canonical_order, "farthest-point order at evaluation")
      .add("model", "score_dropout", &model.score_dropout, "dropout of queries and keys", probability_range)
      .add("model", "token_dropout", &model.token_dropout, "dropout of embeddings", probability_range)
      .add("model", "feed_forward_dropout", &model.feed_forward_dropout, "dropout after the expansion",
           probability_range)
      .add("model", "head_dropout", &model.head_dropout, "dropout of pooled features", probability_range);
}

void add_train(Config& config, TrainSettings& train) {
  config.add("train", "epochs", &train.epochs, "passes over the training set", positive)
      .add("train", "batch_size", &train.batch_size, "clouds a step", positive)
      .add("train", "learning_rate", &train.learning_rate, "of AdamW", above_zero)
      .add("train", "weight_decay", &train.weight_decay, "of AdamW", not_negative)
      .add("train", "beta2", &train.beta2, "of AdamW; also sets the warm-up", probability_range)
      .add("train", "max_gradient_norm", &train.max_gradient_norm, "clip the gradient to it; 0: do not", not_negative)
      .add_choice("train", "schedule", &train.schedule, {"step", "cosine"}, "how the learning rate falls")
      .add("train", "decay_every", &train.decay_every, "epochs between steps of the rate", positive)
      .add("train", "decay", &train.decay, "factor of such a step", above_zero)
      .add("train", "average_decay", &train.average_decay, "running average of the weights; 0: none", probability_range)
      .add("train", "label_smoothing", &train.label_smoothing, "share of the target spread over all classes",
           probability_range)
      .add("train", "validate_every", &train.validate_every, "epochs between validations", positive)
      .add("train", "checkpoint_every", &train.checkpoint_every, "epochs between checkpoints", positive);
}

}  // namespace

Config ClassifySettings::config() {
  Config keys;
  keys.add("", "data", &data, "dataset: furniture, or a folder")
      .add("", "seed", &seed, "of everything random")
      .add("", "workers", &workers, "threads that prepare batches", not_negative);
  add_clouds(keys, clouds, augment);
  add_model(keys, model);
  add_train(keys, train);
  keys.add_choice("evaluation", "evaluation", &evaluation.evaluation, {"seeded", "greedy"}, "sampling at evaluation")
      .add("evaluation", "votes", &evaluation.votes, "draws whose logits are averaged", positive)
      .add("evaluation", "evaluation_batch", &evaluation.evaluation_batch, "clouds at a time", positive);
  return keys;
}

void ClassifySettings::check() const {
  if (model.width % model.heads != 0) {
    throw UsageError("heads must divide width: " + std::to_string(model.heads) + " does not divide " +
                     std::to_string(model.width));
  }
  if (augment.scale_low > augment.scale_high) {
    throw UsageError("scale_low must not be above scale_high: " + std::to_string(augment.scale_low) + " and " +
                     std::to_string(augment.scale_high));
  }
}

PointClassifierOptions ClassifySettings::classifier(int64_t classes) const {
  SamplerOptions sampler;
  sampler.bins = model.bins;
  sampler.tau = model.tau;
  sampler.weighting = model.weighting == "softplus" ? PairWeighting::softplus : PairWeighting::gumbel_softmax;
  sampler.hard = model.hard;
  sampler.with_replacement = model.with_replacement;
  sampler.noise = model.noise;
  PointClassifierOptions options;
  options.classes = classes;
  options.normals = clouds.normals;
  options.tokens = tokens_of(model.tokens);
  options.layers = model.layers;
  options.head_sampler = sampler;
  options.head_sampler.bins = model.head_bins;
  options.head_dropout = model.head_dropout;
  options.canonical_order = model.canonical_order;
  options.layer.norm = model.norm == "pre" ? NormPlacement::pre : NormPlacement::post;
  options.layer.token_dropout = model.token_dropout;
  options.layer.feed_forward_dropout = model.feed_forward_dropout;
  AttentionOptions& attention = options.layer.attention;
  attention.width = model.width;
  attention.heads = model.heads;
  attention.sampler = sampler;
  attention.score = model.score == "maxout" ? ScoreKind::maxout : ScoreKind::dot;
  attention.probability = model.probability == "softmax" ? ProbabilityKind::softmax : ProbabilityKind::leaky_relu;
  attention.score_dropout = model.score_dropout;
  return options;
}

TrainingOptions ClassifySettings::training() const {
  TrainingOptions options;
  options.epochs = train.epochs;
  options.validate_every = train.validate_every;
  options.seed = seed;
  OptimizationOptions& optimization = options.optimization;
  optimization.learning_rate = train.learning_rate;
  optimization.weight_decay = train.weight_decay;
  optimization.beta2 = train.beta2;
  optimization.max_gradient_norm = train.max_gradient_norm;
  optimization.schedule = train.schedule == "cosine" ? Schedule::cosine : Schedule::step;
  optimization.decay_every = train.decay_every;
  optimization.decay = train.decay;
  optimization.epochs = train.epochs;
  optimization.average_decay = train.average_decay;
  return options;
}

PointDatasetOptions ClassifySettings::dataset() const {
  PointDatasetOptions options;
  options.points_per_mesh = clouds.points_per_mesh;
  options.test_every = clouds.test_every;
  options.allow_missing = clouds.allow_missing;
  options.drop_background = clouds.drop_background;
  return options;
}

}  // namespace geosft
