// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/experiment_settings.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "models/ops/monomials.h"
#include "tools/experiment/arguments.h"

namespace geosft {
namespace {

void add_polynomial(Config& config, PolynomialOptions& polynomial) {
  config
      .add("model", "degree", &polynomial.degree, "polynomial attention: of the polynomial, where tolerance is 0",
           not_negative)
      .add("model", "tolerance", &polynomial.tolerance,
           "polynomial attention: error of its weights that each call chooses the degree for; 0: degree", not_negative)
      .add("model", "max_monomials", &polynomial.max_monomials,
           "polynomial attention: of a head, more than which tolerance must not take", positive)
      .add("model", "or_exact", &polynomial.or_exact,
           "polynomial attention: where tolerance takes more, attend exactly instead of ending with an error")
      .add("model", "center", &polynomial.center, "polynomial attention: subtract the mean of the keys")
      .add("model", "causal", &polynomial.causal,
           "polynomial attention: tokens attend to earlier ones of their item and themselves")
      .add_enum("model", "score_scale", &polynomial.score_scale,
                "polynomial attention: of the scores in a head of c channels: 1 / sqrt(c), or 1 / c as in the paper");
}

constexpr int64_t default_mask_size = 16;

}  // namespace

void PrimalSettings::add_keys(Config& config) {
  config.add("model", "beta", &beta, "bn attentions: weight of the keys' mean that queries and keys are recentred by")
      .add("model", "learn_beta", &learn_beta, "let each head learn it, beginning there")
      .add("model", "share_beta", &share_beta, "learn one beta for all heads of a layer instead")
      .add("model", "pool", &pool, "sh attentions: pooling factor of every head; empty: those of the paper", positive)
      .add_enum("model", "pooling", &pooling, "how they pool")
      .add_enum("model", "mask", &mask,
                "sparse attentions: tokens that one sees; nearest: points, neighbours: of the graph")
      .add("model", "mask_size", &mask_size,
           "radius, stride, size or count of the mask; 0: the square root of an item's tokens for strided, 16 for "
           "others",
           not_negative)
      .add("model", "convolution_size", &convolution_size, "conv attentions: of the kernel; 0: 5, conv2d 2",
           not_negative);
}

void PrimalSettings::apply(PrimalOptions& options) const {
  if (options.beta != 0) {
    options.beta = beta;
    options.learn_beta = learn_beta;
    options.share_beta = share_beta;
  }
  if (!options.pool.empty() && !pool.empty()) options.pool.assign(pool.begin(), pool.end());
  options.pooling = pooling;
  if (options.mask != MaskKind::none) options.mask = mask;
  options.mask_size = mask_size > 0 || options.mask == MaskKind::strided ? mask_size : default_mask_size;
  if (convolution_size > 0) options.convolution_size = convolution_size;
}

LayerOptions EncoderSettings::chosen() const {
  LayerOptions options;
  choose_attention(options, attention);
  return options;
}

bool EncoderSettings::sees_relative() const {
  const bool relative_mask = primal.mask == MaskKind::nearest || primal.mask == MaskKind::neighbours;
  return kind() == AttentionKind::sampling || (sparse() && relative_mask);
}

void EncoderSettings::add_keys(Config& config, bool or_none) {
  config.add("model", "dim", &dim, "channels of a token (d)", positive)
      .add("model", "num_heads", &num_heads, "attention heads (h), a divisor of dim", positive)
      .add("model", "depth", &depth, "transformer layers", positive)
      .add("model", "mlp_ratio", &mlp_ratio,
           "hidden channels of a layer's feed-forward network, as a multiple of dim" +
               std::string(or_none ? "; 0: no such network" : ""),
           or_none ? not_negative : positive)
      .add("model", "num_samples", &sampling.num_samples, "sampled tokens of a layer (k)", positive)
      .add_choice("model", "attention", &attention, attention_names(or_none),
                  "sampling: over a learned sample; the others over all tokens, without relative encodings")
      .add_enum("model", "norm", &norm, "where layers normalise")
      .add_enum("model", "score", &score, "attention score")
      .add_enum("model", "probability", &probability, "attention probability")
      .add_enum("model", "weighting", &sampling.weighting, "weights within a pair")
      .add("model", "tau", &sampling.tau, "temperature of the sampler", above_zero)
      .add("model", "hard", &sampling.hard, "sample the winner of a pair instead of the weighted sum")
      .add("model", "with_replacement", &sampling.with_replacement, "sample with replacement")
      .add("model", "noise", &sampling.noise, "Gumbel noise on the scores")
      .add("model", "score_dropout", &score_dropout, "dropout of queries and keys", probability_range)
      .add("model", "token_dropout", &token_dropout, "dropout of embeddings", probability_range)
      .add("model", "feed_forward_dropout", &feed_forward_dropout, "dropout after the expansion", probability_range);
  add_polynomial(config, polynomial);
  primal.add_keys(config);
}

void EncoderSettings::check() const {
  if (is_automatic(dim) || is_automatic(num_heads)) return;  // checked once they are known
  if (kind() != AttentionKind::none && dim % num_heads != 0) {
    throw UsageError("num_heads must divide dim: " + std::to_string(num_heads) + " does not divide " +
                     std::to_string(dim));
  }
  check_primal();
  const int64_t channels = dim / num_heads, monomials = monomial_count(channels, polynomial.degree);
  if (kind() == AttentionKind::polynomial && polynomial.tolerance == 0 && monomials > kMaxMonomials) {
    throw UsageError("degree " + std::to_string(polynomial.degree) + " has " + std::to_string(monomials) +
                     " monomials of " + std::to_string(channels) + " channels (dim / num_heads), more than " +
                     std::to_string(kMaxMonomials));
  }
}

void EncoderSettings::check_primal() const {
  if (!primal.pool.empty() && static_cast<int64_t>(primal.pool.size()) != num_heads) {
    throw UsageError("pool must have a factor a head: " + std::to_string(primal.pool.size()) + " factors, " +
                     std::to_string(num_heads) + " heads");
  }
  for (const double factor : primal.pool) {
    if (factor != std::floor(factor)) throw UsageError("pool must have whole factors, got " + std::to_string(factor));
  }
  if (sparse() && !chosen().primal.pool.empty() && primal.pooling == PoolingKind::k_means) {
    throw UsageError("pooling must not be k_means with sparse attention: clusters have no place in the item");
  }
}

std::vector<KeyUse> EncoderSettings::key_uses(bool head_samples) const {
  const bool samples = kind() == AttentionKind::sampling, approximates = kind() == AttentionKind::polynomial,
             tolerant = polynomial.tolerance > 0;
  const bool attends = kind() != AttentionKind::none;
  const PrimalOptions member = chosen().primal;
  const std::string found = "attention " + attention;
  return {
      {{"num_heads"}, attends, "attention", found},
      {{"feed_forward_dropout"}, mlp_ratio > 0, "feed-forward networks", "mlp_ratio 0"},
      {{"num_samples", "score", "probability", "score_dropout"}, samples, "attention sampling", found},
      {{"weighting", "tau", "hard", "with_replacement", "noise"}, samples || head_samples, "sampling", found},
      {{"degree", "tolerance", "max_monomials", "or_exact", "center", "causal", "score_scale"},
       approximates,
       "attention polynomial",
       found},
      {{"center"}, !polynomial.causal, "attention to all tokens of an item", "causal"},
      {{"degree"}, !tolerant, "polynomials of one degree", "a tolerance, which chooses it"},
      {{"max_monomials", "or_exact"}, tolerant, "polynomials with a tolerance", "tolerance 0"},
      {{"beta", "learn_beta", "share_beta"}, member.beta != 0, "the bn attentions", found},
      {{"pool", "pooling"}, !member.pool.empty(), "the sh attentions", found},
      {{"mask", "mask_size"}, member.mask != MaskKind::none, "the sparse attentions", found},
      {{"mask_size"}, primal.mask != MaskKind::neighbours, "masks of a size", "mask neighbours"},
      {{"convolution_size"}, member.convolution != ConvolutionKind::none, "the conv attentions", found},
  };
}

SamplerOptions EncoderSettings::sampler(int64_t num_samples) const {
  SamplerOptions options = sampling;
  options.num_samples = num_samples;
  return options;
}

LayerOptions EncoderSettings::layer() const {
  LayerOptions options;
  options.polynomial = polynomial;
  options.norm = norm;
  options.expansion = mlp_ratio;
  options.token_dropout = token_dropout;
  options.feed_forward_dropout = feed_forward_dropout;
  options.attention.width = dim;
  options.attention.heads = num_heads;
  options.attention.sampler = sampling;
  options.attention.score = score;
  options.attention.probability = probability;
  options.attention.score_dropout = score_dropout;
  choose_attention(options, attention);
  primal.apply(options.primal);
  return options;
}

void TrainSettings::add_keys(Config& config, const std::string& items) {
  config.add("train", "epochs", &epochs, "passes over the training set", positive)
      .add("train", "batch_size", &batch_size, items + " a step, of each process where several train together",
           positive)
      .add("train", "lr", &optimization.learning_rate, "of AdamW", above_zero)
      .add("train", "weight_decay", &optimization.weight_decay, "of AdamW", not_negative)
      .add("train", "beta2", &optimization.beta2, "of AdamW; also sets the warm-up if warmup_epochs is 0",
           probability_range)
      .add("train", "warmup_epochs", &optimization.warmup_epochs,
           "epochs in which the learning rate rises linearly; 0: 2 / (1 - beta2) steps", not_negative)
      .add("train", "clip_grad_norm", &optimization.max_gradient_norm, "clip the gradient to it; 0: do not",
           not_negative)
      .add_enum("train", "schedule", &optimization.schedule, "how the learning rate falls")
      .add("train", "decay_every", &optimization.decay_every, "epochs between steps of the rate", positive)
      .add("train", "decay", &optimization.decay, "factor of such a step", above_zero)
      .add("train", "ema_decay", &optimization.average_decay,
           "running average of the weights, at most (1 + n) / (10 + n) after n steps; 0: none", probability_range)
      .add("train", "label_smoothing", &label_smoothing, "share of the target spread over all classes",
           probability_range)
      .add_enum("train", "precision", &precision, "of matrix products in training (autocast)")
      .add_enum("train", "on_non_finite", &on_non_finite,
                "what a step whose loss or gradient is not finite does: nothing, or end the run")
      .add("train", "replay_steps", &replay_steps,
           "on a GPU: capture a step as a CUDA graph, and replay it for every batch of the same sizes")
      .add("train", "init_from", &init_from,
           "RUN folder, checkpoint or pretrained model (see list) to begin with; the keys of [model] are then its own")
      .add("train", "head_lr_factor", &optimization.head_rate_factor,
           "learning rate of the head, relative to the other layers", above_zero)
      .add("train", "freeze_encoder", &freeze_encoder, "train the head alone, on the encoder of init_from")
      .add("train", "validate_every", &validate_every, "epochs between validations", positive)
      .add("train", "checkpoint_every", &checkpoint_every, "epochs between checkpoints", positive)
      .add("train", "tensorboard", &tensorboard, "write the metrics for TensorBoard too, in RUN/tensorboard");
}

std::vector<KeyUse> TrainSettings::with_key_uses(std::vector<KeyUse> uses) const {
  const Schedule schedule = optimization.schedule;
  uses.push_back({{"decay", "decay_every"},
                  schedule == Schedule::step,
                  "schedule step",
                  std::string("schedule ") + name_of(schedule)});
  return uses;
}

std::string TrainSettings::warmup_text(int64_t steps_per_epoch, int64_t all_epochs) const {
  const int64_t all = steps_per_epoch * all_epochs;
  const double steps = optimization.warmup_epochs > 0
                           ? optimization.warmup_epochs * static_cast<double>(steps_per_epoch)
                           : 2.0 / (1.0 - optimization.beta2);
  if (4 * steps <= static_cast<double>(all)) return "";
  OptimizationOptions run = optimization;
  run.epochs = all_epochs;
  int64_t rising = 0;
  double peak = 0;
  for (int64_t step = 0; step < all; ++step) {
    const double rate = scheduled_rate(run, step, static_cast<double>(step) / static_cast<double>(steps_per_epoch));
    if (rate <= peak) continue;
    peak = rate;
    rising = step + 1;
  }
  std::ostringstream text;
  text << ", the learning rate rises for " << rising << " of " << all << " steps, to " << std::setprecision(2) << peak
       << " of " << run.learning_rate << " (a shorter warm-up by --warmup-epochs, or train for more epochs)";
  return text.str();
}

TrainingOptions TrainSettings::options(uint64_t seed) const {
  TrainingOptions options;
  options.epochs = epochs;
  options.validate_every = validate_every;
  options.seed = seed;
  options.stop_at_non_finite = on_non_finite == NonFiniteStepAction::stop;
  if (precision == Precision::bfloat16) options.autocast = at::kBFloat16;
  if (precision == Precision::float16) options.autocast = at::kHalf;
  options.optimization = optimization;
  options.optimization.epochs = epochs;
  return options;
}

void TrainSettings::take_resumable(const TrainSettings& other) {
  epochs = other.epochs;
  validate_every = other.validate_every;
  checkpoint_every = other.checkpoint_every;
  on_non_finite = other.on_non_finite;
  replay_steps = other.replay_steps;
  tensorboard = other.tensorboard;
}

void EvaluationSettings::add_keys(Config& config, const std::string& items) {
  config.add_enum("evaluation", "evaluation", &evaluation, "sampling at evaluation")
      .add("evaluation", "votes", &votes, "passes whose logits are averaged", positive)
      .add("evaluation", "evaluation_batch", &evaluation_batch, items + " at a time", positive);
}

std::optional<at::ScalarType> EvaluationSettings::autocast() const {
  return precision == EvaluationPrecision::bfloat16 ? std::optional(at::kBFloat16) : std::nullopt;
}

int64_t EvaluationSettings::checked_votes() const {
  TORCH_CHECK(votes >= 1, "settings.evaluation.votes must be at least 1, got ", votes);
  return votes;
}

SamplingContext EvaluationSettings::context(uint64_t vote) const {
  return evaluation == SampleMode::greedy ? SamplingContext::greedy() : SamplingContext::seeded(vote);
}

SamplingContext EvaluationSettings::context(uint64_t first, int64_t count) const {
  if (evaluation == SampleMode::greedy) return SamplingContext::greedy();
  std::vector<uint64_t> of_items(static_cast<size_t>(count));
  std::iota(of_items.begin(), of_items.end(), first);
  return SamplingContext::seeded_items(std::move(of_items));
}

}  // namespace geosft
