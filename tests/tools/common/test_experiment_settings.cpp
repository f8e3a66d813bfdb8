// SPDX-License-Identifier: Apache-2.0
#include "tools/common/experiment_settings.h"

#include <catch2/catch.hpp>

#include "tests/support.h"
#include "tools/common/arguments.h"

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
  CHECK(layer.attention.sampler.bins == 9);
  const SamplerOptions sampler = settings.sampler(3);
  CHECK(sampler.bins == 3);
  CHECK(sampler.tau == 2.0);
  CHECK(sampler.weighting == PairWeighting::gumbel_softmax);
  CHECK((sampler.hard && sampler.with_replacement && !sampler.noise));
  CHECK(settings.layers == 5);
  settings.check();
  settings.heads = 5;
  CHECK_THROWS_AS(settings.check(), UsageError);
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
  other.learning_rate = 5.0;
  settings.take_resumable(other);
  CHECK(settings.epochs == 9);
  CHECK(settings.checkpoint_every == 4);
  CHECK(settings.learning_rate == TrainSettings().learning_rate);
}

TEST_CASE("the evaluation decides how samplers draw") {
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
