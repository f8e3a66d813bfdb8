// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/experiment_settings.h"

#include <catch2/catch.hpp>

#include "tests/support.h"
#include "tests/tools/experiment/unused_options.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_experiment_settings {

TEST_CASE("the keys of the encoder are its options") {
  EncoderSettings settings;
  Config keys;
  settings.add_keys(keys);
  keys.set_text(
      "[model]\nwidth = 24\nheads = 6\nlayers = 5\nbins = 9\nnorm = 'pre'\nscore = 'dot'\nprobability = 'softmax'\n"
      "weighting = 'gumbel_softmax'\ntau = 2.0\nhard = true\nwith_replacement = true\nnoise = false\n"
      "score_dropout = 0.01\ntoken_dropout = 0.02\nfeed_forward_dropout = 0.03\n");
  const LayerOptions layer = settings.layer();
  CHECK(layer.norm == NormPlacement::pre);
  CHECK(layer.attention.width == 24);
  CHECK(layer.attention.heads == 6);
  CHECK(layer.attention.score == ScoreKind::dot);
  CHECK(layer.attention.probability == ProbabilityKind::softmax);
  CHECK(layer.attention.score_dropout == 0.01);
  CHECK(layer.token_dropout == 0.02);
  CHECK(layer.feed_forward_dropout == 0.03);
  CHECK(layer.attention.sampler.num_samples == 9);
  const SamplerOptions sampler = settings.sampler(3);
  CHECK(sampler.num_samples == 3);
  CHECK(sampler.tau == 2.0);
  CHECK(sampler.weighting == PairWeighting::gumbel_softmax);
  CHECK((sampler.hard && sampler.with_replacement && !sampler.noise));
  CHECK(settings.depth == 5);
  settings.check();
  settings.num_heads = 5;
  CHECK_THROWS_AS(settings.check(), UsageError);
}

TEST_CASE("the attention of the encoder is chosen by name and changed by its keys") {
  EncoderSettings settings;
  Config keys;
  settings.add_keys(keys);
  CHECK(settings.layer().kind == AttentionKind::sampling);
  keys.set_text(
      "[model]\nwidth = 8\nheads = 4\nattention = 'linear_bn_sh'\nbeta = 0.3\nlearn_beta = true\nshare_beta = true\n"
      "pool = [1, 3, 3, 5]\npooling = 'max'\n");
  settings.check();
  PrimalOptions options = settings.layer().primal;
  CHECK(settings.layer().kind == AttentionKind::primal);
  CHECK(options.linear);
  CHECK(options.beta == 0.3);
  CHECK(options.learn_beta);
  CHECK(options.share_beta);
  CHECK(options.pool == std::vector<int64_t>{1, 3, 3, 5});
  CHECK(options.pooling == PoolingKind::max);
  keys.set_text("[model]\nattention = 'sparse_conv1d'\nmask = 'block'\nmask_size = 9\nconvolution_size = 3\n");
  options = settings.layer().primal;
  CHECK(options.mask == MaskKind::block);
  CHECK(options.mask_size == 9);
  CHECK(options.convolution_size == 3);
  CHECK(options.beta == 0);
  CHECK(options.pool.empty());
}

TEST_CASE("keys of the primal-dual family that contradict each other are refused") {
  EncoderSettings settings;
  settings.dim = 8;
  settings.num_heads = 2;
  settings.primal.pool = {1, 3, 3, 5};
  require_error([&] { settings.check(); }, {"pool", "4 factors", "2 heads"});
  settings.primal.pool = {1, 1.5};
  require_error([&] { settings.check(); }, {"pool", "1.5"});
  settings.primal.pool.clear();
  settings.attention = "sparse_sh";
  settings.primal.pooling = PoolingKind::k_means;
  require_error([&] { settings.check(); }, {"pooling", "k_means"});
  CHECK_FALSE(settings.on_grid());
  settings.attention = "sparse_conv2d";
  CHECK(settings.on_grid());
}

TEST_CASE("relative encodings are for sampling, and for masks that are made of them") {
  EncoderSettings settings;
  CHECK(settings.sees_relative());
  settings.primal.mask = MaskKind::neighbours;
  for (const char* name : {"softmax", "polynomial", "bn_sh"}) {
    settings.attention = name;
    CHECK_FALSE(settings.sees_relative());
  }
  settings.attention = "sparse_bn";
  CHECK(settings.sees_relative());
  settings.primal.mask = MaskKind::window;
  CHECK_FALSE(settings.sees_relative());
}

TEST_CASE("polynomial attention is chosen by name, with its keys") {
  EncoderSettings settings;
  Config keys;
  settings.add_keys(keys);
  keys.set_text(
      "[model]\nattention = 'polynomial'\ndegree = 2\ntolerance = 0.5\nmost_monomials = 77\nor_exact = true\n"
      "center = false\ncausal = true\nscore_scale = 'inverse'\n");
  const LayerOptions layer = settings.layer();
  CHECK(layer.kind == AttentionKind::polynomial);
  CHECK(layer.polynomial.degree == 2);
  CHECK(layer.polynomial.tolerance == 0.5);
  CHECK(layer.polynomial.max_monomials == 77);
  CHECK((layer.polynomial.or_exact && !layer.polynomial.center));
  CHECK((layer.polynomial.causal && layer.polynomial.score_scale == ScoreScale::inverse));
  settings.check();
  settings.polynomial.degree = 12;
  settings.check();  // a tolerance chooses the degree
  settings.polynomial.tolerance = 0;
  CHECK_THROWS_WITH(settings.check(), Catch::Contains("degree 12") && Catch::Contains("16 channels"));
}

namespace {

// The encoder alone, under a head that samples or does not.
template <bool kHeadSamples>
struct Encoder : EncoderSettings {
  Config config() {
    Config keys;
    add_keys(keys);
    return keys;
  }
  std::vector<KeyUse> key_uses() const { return EncoderSettings::key_uses(kHeadSamples); }
};

std::string said(const std::string& model, const std::vector<std::string>& options) {
  return said_of_unused<Encoder<false>>("[model]\n" + model, options);
}

// Options that softmax attention has no use for, and a model that has.
struct Unused {
  std::vector<std::string> option;
  std::string purpose, model;
};

const std::vector<Unused>& all_unused() {
  static const std::string sampling = "attention = 'sampling'", polynomial = "attention = 'polynomial'",
                           tolerant = polynomial + "\ntolerance = 0.1", bn = "attention = 'linear_bn_sh'",
                           sh = "attention = 'sparse_sh'", sparse = "attention = 'sparse'",
                           conv = "attention = 'linear_conv1d'";
  static const std::vector<Unused> all = {
      {{"--num-samples", "4"}, "attention sampling", sampling},
      {{"--score", "dot"}, "attention sampling", sampling},
      {{"--probability", "softmax"}, "attention sampling", sampling},
      {{"--score-dropout", "0"}, "attention sampling", sampling},
      {{"--weighting", "softplus"}, "sampling", sampling},
      {{"--tau", "2"}, "sampling", sampling},
      {{"--hard"}, "sampling", sampling},
      {{"--with-replacement"}, "sampling", sampling},
      {{"--noise"}, "sampling", sampling},
      {{"--degree", "2"}, "attention polynomial", polynomial},
      {{"--tolerance", "0.1"}, "attention polynomial", polynomial},
      {{"--max-monomials", "9"}, "attention polynomial", tolerant},
      {{"--or-exact"}, "attention polynomial", tolerant},
      {{"--center"}, "attention polynomial", polynomial},
      {{"--beta", "0.1"}, "the bn attentions", bn},
      {{"--learn-beta"}, "the bn attentions", bn},
      {{"--pool", "1,2"}, "the sh attentions", sh},
      {{"--pooling", "max"}, "the sh attentions", sh},
      {{"--mask", "block"}, "the sparse attentions", sparse},
      {{"--mask-size", "4"}, "the sparse attentions", sparse},
      {{"--convolution-size", "3"}, "the conv attentions", conv},
  };
  return all;
}

}  // namespace

TEST_CASE("options that the chosen attention does not use are refused") {
  for (const auto& [option, purpose, model] : all_unused()) {
    INFO(option[0]);
    CHECK(said("attention = 'softmax'", option) == option[0] + " is for " + purpose + ", not for attention softmax");
    CHECK(said(model, option).empty());
  }
  CHECK(said("", {"--attention", "bn_variance", "--beta", "0.1"}) ==
        "--beta is for the bn attentions, not for attention bn_variance");
  CHECK(said("attention = 'softmax'", {"--attention", "bn", "--beta", "0.1"}).empty());
  CHECK_THAT(said("attention = 'polynomial'\ntolerance = 0.1", {"--degree", "2"}),
             Catch::Contains("not for a tolerance"));
  for (const char* option : {"--or-exact", "--max-monomials=9"}) {
    CHECK_THAT(said("attention = 'polynomial'", {option}), Catch::Contains("not for tolerance 0"));
  }
  CHECK_THAT(said("attention = 'sparse'\nmask = 'neighbours'", {"--mask-size", "4"}),
             Catch::Contains("not for mask neighbours"));
  CHECK(said("", {"--dim", "8", "--num-heads", "2", "--norm", "pre", "--token-dropout", "0"}).empty());
}

TEST_CASE("a head that samples uses the options of the sampler, whatever the attention") {
  const auto said_of_head = [](const std::string& option) {
    return said_of_unused<Encoder<true>>("[model]\nattention = 'softmax'", {option});
  };
  for (const char* option : {"--weighting=softplus", "--tau=2", "--hard", "--with-replacement", "--noise"}) {
    CHECK(said_of_head(option).empty());
  }
  CHECK(said_of_head("--num-samples=4") == "--num-samples is for attention sampling, not for attention softmax");
}

TEST_CASE("keys that the chosen attention does not use may be in a file") {
  CHECK(said("attention = 'softmax'\nbins = 4\nscore = 'dot'\ntau = 2.0\nhard = true\ndegree = 2\ntolerance = 0.1\n"
             "beta = 0.1\npool = [1, 2]\nmask = 'block'\nmask_size = 4\nconvolution_size = 3\n",
             {"--depth", "1"})
            .empty());
}

TEST_CASE("the keys of the training are its options, and some may change later") {
  TrainSettings settings;
  Config keys;
  settings.add_keys(keys, "widgets");
  CHECK_THAT(keys.help(), Catch::Contains("widgets a step"));
  keys.set_text("[train]\nepochs = 7\nschedule = 'cosine'\nbeta2 = 0.5\ndecay = 0.25\nvalidate_every = 3\n");
  const TrainingOptions options = settings.options(11);
  CHECK(options.epochs == 7);
  CHECK(options.validate_every == 3);
  CHECK(options.seed == 11);
  CHECK(options.optimization.schedule == Schedule::cosine);
  CHECK(options.optimization.beta2 == 0.5);
  CHECK(options.optimization.decay == 0.25);
  TrainSettings other;
  other.epochs = 9;
  other.checkpoint_every = 4;
  other.optimization.learning_rate = 5.0;
  other.replay_steps = true;
  settings.take_resumable(other);
  CHECK(settings.replay_steps);
  CHECK(settings.epochs == 9);
  CHECK(settings.checkpoint_every == 4);
  CHECK(settings.optimization.learning_rate == TrainSettings().optimization.learning_rate);
}

TEST_CASE("a warm-up of more than a quarter of the steps is said, with its length and the peak of the learning rate") {
  TrainSettings settings;
  settings.optimization.beta2 = 0.98;
  CHECK(settings.warmup_text(10, 40).empty());
  const auto expected = [](const std::string& numbers) {
    return ", the learning rate rises for " + numbers +
           " (a shorter warm-up by --warmup-epochs, or train for more epochs)";
  };
  settings.optimization.learning_rate = 0.002;
  settings.optimization.schedule = Schedule::step;
  CHECK(settings.warmup_text(13, 30) == expected("100 of 390 steps, to 0.002 of 0.002"));
  CHECK(settings.warmup_text(5, 2) == expected("10 of 10 steps, to 0.0002 of 0.002"));
  // The cosine falls at the same time: the largest product is at step 23, 0.23 (1 + cos(22 pi / 55)) / 2.
  settings.optimization.schedule = Schedule::cosine;
  CHECK(settings.warmup_text(11, 5) == expected("23 of 55 steps, to 0.0003 of 0.002"));
  settings.optimization.warmup_epochs = 2;
  CHECK(settings.warmup_text(13, 30).empty());
  CHECK(settings.warmup_text(13, 6) == expected("27 of 78 steps, to 0.002 of 0.002"));
}

TEST_CASE("the evaluation decides how samplers sample") {
  EvaluationSettings settings;
  Config keys;
  settings.add_keys(keys, "widgets");
  CHECK(settings.context(3).mode() == SampleMode::seeded);
  SamplingContext same = settings.context(3), again = settings.context(3), other = settings.context(4);
  const at::Tensor seeds = same.next_seeds(2, at::kCPU);
  require_equal(again.next_seeds(2, at::kCPU), seeds, "the same vote");
  CHECK_FALSE(at::equal(other.next_seeds(2, at::kCPU), seeds));
  keys.set_text("[evaluation]\nevaluation = 'greedy'\n");
  CHECK(settings.context(3).mode() == SampleMode::greedy);
}

}  // namespace geosft::test::test_experiment_settings
