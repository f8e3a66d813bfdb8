// SPDX-License-Identifier: Apache-2.0
// Configuration sections shared by all training tools: encoder, training, evaluation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/layers/transformer_layer.h"
#include "models/training/training_loop.h"
#include "tools/experiment/config.h"

namespace geosft {

// Ranges of permitted values.
inline constexpr Range positive{.low = 1};
inline constexpr Range not_negative{.low = 0};
inline constexpr Range probability_range{.low = 0, .high = 1, .open_high = true};
inline constexpr Range above_zero{.low = 0, .open_low = true};

// The type of matrix products in training.
enum class Precision { float32, bfloat16, float16 };
// Says whether a step whose loss or gradient is not finite is skipped or ends the run.
enum class NonFiniteStepAction { skip, stop };

GEOSFT_ENUM_NAMES(PoolingKind, average, max, convolution, k_means);
// The masks that a sparse attention has.
GEOSFT_ENUM_NAMES(MaskKind, window, strided, block, nearest, neighbours);
GEOSFT_ENUM_NAMES(NormPlacement, pre, post);
GEOSFT_ENUM_NAMES(ScoreKind, maxout, dot);
GEOSFT_ENUM_NAMES(ScoreScale, inverse_sqrt, inverse);
GEOSFT_ENUM_NAMES(ProbabilityKind, leaky_relu, softmax);
GEOSFT_ENUM_NAMES(PairWeighting, softplus, gumbel_softmax);
GEOSFT_ENUM_NAMES(Schedule, step, cosine);
GEOSFT_ENUM_NAMES(Precision, float32, bfloat16, float16);

// The type of the matrix products of an evaluation.
enum class EvaluationPrecision { float32, bfloat16 };
GEOSFT_ENUM_NAMES(EvaluationPrecision, float32, bfloat16);
GEOSFT_ENUM_NAMES(NonFiniteStepAction, skip, stop);
// The modes of an evaluation.
GEOSFT_ENUM_NAMES(SampleMode, seeded, greedy);

// Section [model]: options of the primal-dual attentions (PrimalOptions).
struct PrimalSettings {
  double beta = 0.5;  // for the bn attentions
  bool learn_beta = false, share_beta = false;
  std::vector<double> pool = {};  // for the sh attentions; empty: default_pool
  PoolingKind pooling = PoolingKind::average;
  MaskKind mask = MaskKind::strided;  // of the sparse attentions
  int64_t mask_size = 0;              // 0: the square root of the number of tokens for strided, 16 for others
  int64_t convolution_size = 0;       // 0: 5 along a sequence, 2 on a grid

  void add_keys(Config& config);
  // Overrides the defaults that the attention's name has set.
  void apply(PrimalOptions& options) const;
};

// Section [model]: the transformer.
struct EncoderSettings {
  int64_t dim = 256, num_heads = 16, depth = 8;
  int64_t mlp_ratio = 4;
  std::string attention = "sampling";  // one of attention_names()
  NormPlacement norm = NormPlacement::post;
  ScoreKind score = ScoreKind::maxout;
  ProbabilityKind probability = ProbabilityKind::leaky_relu;
  SamplerOptions sampling{.num_samples = 256};  // of a layer
  double score_dropout = 0.1, token_dropout = 0.1, feed_forward_dropout = 0.2;
  PolynomialOptions polynomial;
  PrimalSettings primal;

  // or_none: whether "none" is an attention, and 0 an mlp_ratio, for models whose layers can do without.
  void add_keys(Config& config, bool or_none = false);
  // Throws UsageError naming the keys that contradict each other.
  void check() const;
  // Lists which keys the chosen attention uses and, if `head_samples`, the head.
  std::vector<KeyUse> key_uses(bool head_samples) const;
  // Returns the options of the sampler with another number of samples.
  SamplerOptions sampler(int64_t num_samples) const;
  LayerOptions layer() const;
  AttentionKind kind() const { return chosen().kind; }
  // Returns whether the attention uses relative encodings or derives its mask from them.
  bool sees_relative() const;
  bool sparse() const { return chosen().primal.mask != MaskKind::none; }
  // Returns whether the tokens must lie on a grid.
  bool on_grid() const { return chosen().primal.convolution == ConvolutionKind::grid; }

 private:
  // Returns options with the attention's name alone applied.
  LayerOptions chosen() const;
  void check_primal() const;
};

// What limits the batches of a training, over all processes, and the option that sets it.
struct BatchLimit {
  int64_t size;
  const char* option = "--batch-size";
  bool of_each_process = true;  // whether the option takes the share of one process
};

// Section [train].
struct TrainSettings {
  int64_t epochs = 600, batch_size = 32;
  OptimizationOptions optimization;  // its number of epochs is that above
  double label_smoothing = 0.0;
  int64_t validate_every = 10, checkpoint_every = 1;
  Precision precision = Precision::float32;
  NonFiniteStepAction on_non_finite = NonFiniteStepAction::skip;
  bool replay_steps = false;
  bool tensorboard = false;    // also write the metrics as TensorBoard event files
  std::string init_from = {};  // run, checkpoint or pretrained model whose weights are the initial ones (fine_tuning.h)
  bool freeze_encoder = false;

  // `items` names the elements of a batch, for example "clouds".
  void add_keys(Config& config, const std::string& items);
  TrainingOptions options(uint64_t seed) const;
  // Returns ", the learning rate rises for 95 of 390 steps, to 0.0008 of 0.001" and what to do if the warm-up takes
  // more than a quarter of all steps; otherwise an empty text.
  std::string warmup_text(int64_t steps_per_epoch, int64_t all_epochs) const;
  BatchLimit batch_limit() const { return {batch_size}; }
  // Sets the size of batch_limit().
  void limit_batches(int64_t size) { batch_size = size; }
  // Copies the settings from `other` that do not affect the steps of a run.
  void take_resumable(const TrainSettings& other);
  // Returns `uses`, and those of its keys that are used only with some values of others.
  std::vector<KeyUse> with_key_uses(std::vector<KeyUse> uses) const;
};

// Section [evaluation].
struct EvaluationSettings {
  SampleMode evaluation = SampleMode::seeded;  // or greedy
  int64_t votes = 1;
  int64_t evaluation_batch = 32;
  EvaluationPrecision precision = EvaluationPrecision::float32;  // no key: a run does not keep it

  void add_keys(Config& config, const std::string& items);
  // Returns the type for an Autocast around the model, or none.
  std::optional<at::ScalarType> autocast() const;
  SamplingContext context(uint64_t vote) const;
  // Returns the context of a batch of `count` items, of which item i is for vote first + i.
  SamplingContext context(uint64_t first, int64_t count) const;
  // Returns votes. Throws c10::Error unless it is at least 1, which a program may have forgotten.
  int64_t checked_votes() const;
};

}  // namespace geosft
