// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/experiment/classify_settings.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/data/files.h"
#include "tests/support.h"
#include "tests/tools/experiment/unused_options.h"

namespace geosft::test::test_classify_settings {

namespace {

// Every key with a value that is not its default.
const std::string every_key = first_cloud_keys + R"(max_per_class = 4
validation_fraction = 0.25
monitor_test = true
test_every = 3
split_order = "name"
allow_missing = true
drop_background = true
columns = "x,y,z,r,g,b"
drop_invalid = true
skip_broken = true
kernel_ridge = true
normal_orientation = "consistent"
[augment]
estimated_normals = 0.25
scale_low = 0.5
scale_high = 1.5
stretch = 0.125
jitter = 0.0625
rotate_training = "z"
drop_tokens = 0.75
[model]
tokens = "local"
relative = "angles"
chirality = true
initialization = "paper"
width = 24
heads = 6
layers = 5
mlp_ratio = 3
bins = 9
attention = "polynomial"
degree = 6
tolerance = 0.5
most_monomials = 77
or_exact = true
center = false
causal = true
score_scale = "inverse"
beta = 0.75
learn_beta = true
share_beta = true
pool = [1, 1, 2, 2, 4, 4]
pooling = "max"
mask = "block"
mask_size = 10
convolution_size = 3
head_bins = 11
head_as_trained = false
norm = "pre"
score = "dot"
probability = "softmax"
weighting = "gumbel_softmax"
tau = 2.0
hard = true
with_replacement = true
noise = false
canonical_order = false
score_dropout = 0.01
token_dropout = 0.02
feed_forward_dropout = 0.03
head_dropout = 0.04
[train]
epochs = 12
batch_size = 13
learning_rate = 0.5
weight_decay = 0.25
warmup_epochs = 1.5
beta2 = 0.875
max_gradient_norm = 3.0
schedule = "cosine"
decay_every = 14
decay = 0.375
average_decay = 0.625
label_smoothing = 0.05
precision = "float16"
on_non_finite = "stop"
replay_steps = true
tensorboard = true
validate_every = 15
checkpoint_every = 16
init_from = "some/run"
head_lr_factor = 10.0
freeze_encoder = true
[evaluation]
evaluation = "greedy"
votes = 17
evaluation_batch = 18
)";

ClassifySettings changed() {
  ClassifySettings settings;
  settings.config().set_text(every_key);
  return settings;
}

}  // namespace

TEST_CASE("every key of a configuration changes it and survives the round trip") {
  ClassifySettings defaults, settings = changed();
  const std::string toml = settings.config().to_toml();
  const std::set<std::string> before = key_lines(defaults.config().to_toml());
  for (const std::string& line : key_lines(toml)) {
    INFO(line);
    CHECK(before.count(line) == 0);
  }
  CHECK(key_lines(toml).size() == before.size());
  ClassifySettings again;
  again.config().set_text(toml);
  CHECK(again.config().to_toml() == toml);
}

TEST_CASE("model keys reach the options of the classifier") {
  const PointClassifierOptions options = changed().classifier(21);
  CHECK(options.classes == 21);
  CHECK_FALSE(options.normals);
  CHECK(options.tokens == PointTokens::local);
  CHECK(options.relative == PointRelative::angles);
  CHECK(options.chirality);
  CHECK(options.layers == 5);
  CHECK_FALSE(options.canonical_order);
  CHECK(options.head_dropout == 0.04);
  CHECK(options.layer.norm == NormPlacement::pre);
  CHECK(options.layer.token_dropout == 0.02);
  CHECK(options.layer.feed_forward_dropout == 0.03);
  const AttentionOptions& attention = options.layer.attention;
  CHECK(attention.initialization == Initialization::paper);
  CHECK(attention.width == 24);
  CHECK(attention.heads == 6);
  CHECK(attention.score == ScoreKind::dot);
  CHECK(attention.probability == ProbabilityKind::softmax);
  CHECK(attention.score_dropout == 0.01);
  CHECK(attention.sampler.num_samples == 9);
  CHECK(options.head_sampler.num_samples == 11);
  for (const SamplerOptions& sampler : {attention.sampler, options.head_sampler}) {
    CHECK(sampler.tau == 2.0);
    CHECK(sampler.weighting == PairWeighting::gumbel_softmax);
    CHECK(sampler.hard);
    CHECK(sampler.with_replacement);
    CHECK_FALSE(sampler.noise);
  }
}

TEST_CASE("training keys reach the options of the loop") {
  const TrainingOptions options = changed().training();
  CHECK(options.epochs == 12);
  CHECK(options.validate_every == 15);
  CHECK(options.autocast == at::kHalf);
  CHECK(options.seed == 7);
  CHECK(options.stop_at_non_finite);
  const OptimizationOptions& optimization = options.optimization;
  CHECK(optimization.learning_rate == 0.5);
  CHECK(optimization.weight_decay == 0.25);
  CHECK(optimization.beta2 == 0.875);
  CHECK(optimization.max_gradient_norm == 3.0);
  CHECK(optimization.schedule == Schedule::cosine);
  CHECK(optimization.decay_every == 14);
  CHECK(optimization.decay == 0.375);
  CHECK(optimization.epochs == 12);
  CHECK(optimization.average_decay == 0.625);
  CHECK(optimization.head_rate_factor == 10.0);
}

TEST_CASE("data keys reach the options of the dataset") {
  const PointDatasetOptions options = changed().dataset();
  CHECK(options.points_per_mesh == 500);
  CHECK(options.test_every == 3);
  CHECK(options.split_order == SplitOrder::name);
  CHECK(options.allow_missing);
  CHECK(options.drop_background);
}

TEST_CASE("the names of choices mean what they say") {
  ClassifySettings settings;
  for (const std::string& name : enum_names<PointTokens>()) {
    settings.config().set_text("[model]\ntokens = '" + name + "'\n");
    CHECK(name_of(settings.classifier(2).tokens) == name);
  }
  CHECK(settings.classifier(2).layer.attention.score == ScoreKind::maxout);
  CHECK(settings.classifier(2).layer.attention.probability == ProbabilityKind::leaky_relu);
  CHECK(settings.classifier(2).layer.norm == NormPlacement::post);
  CHECK(settings.classifier(2).head_sampler.weighting == PairWeighting::softplus);
  CHECK(settings.training().optimization.schedule == Schedule::step);
}

TEST_CASE("options of a classification that nothing uses are refused") {
  const auto said = [](const std::vector<std::string>& options) {
    return said_of_unused<ClassifySettings>("[model]\nattention = 'softmax'\nbins = 4\n", options);
  };
  CHECK(said({"--num-samples", "4"}) == "--num-samples is for attention sampling, not for attention softmax");
  CHECK(said({"--relative", "angles"}) == "--relative is for attention sampling, not for attention softmax");
  CHECK(said({"--tau", "2"}).empty());
  CHECK(said({"--head-num-samples", "4", "--head-dropout", "0.1"}).empty());
  CHECK(said({"--decay", "0.5"}).empty());
  CHECK(said({"--schedule", "cosine", "--decay", "0.5"}) == "--decay is for schedule step, not for schedule cosine");
}

TEST_CASE("options of reading files are refused for a set that has no such files") {
  const TemporaryFolder folder;
  const std::string arrays = (folder / "arrays").string(), files = (folder / "files").string();
  write_text(folder / "arrays/train_files.txt", "");
  write_text(folder / "files/train/a/1.xyz", "0 0 0\n");
  const auto said = [](const std::string& data, const std::vector<std::string>& options) {
    return said_of_unused<ClassifySettings>("data = '" + data + "'", options);
  };
  CHECK(said(arrays, {"--columns", "x,y,z"}) == "--columns is for tables of text and NumPy arrays, not for " + arrays);
  CHECK(said(arrays, {"--drop-invalid"}) == "--drop-invalid is for files of points, not for " + arrays);
  CHECK(said("furniture", {"--drop-invalid"}) == "--drop-invalid is for files of points, not for furniture");
  CHECK(said(arrays, {"--no-drop-invalid"}).empty());
  CHECK(said(files, {"--columns", "x,y,z", "--drop-invalid"}).empty());
  require_error([&] { refuse_unused_reading("x,y,z", false, arrays, ClassifySettings::kReadOptionUse); },
                {"--columns is for tables of text and NumPy arrays, not for " + arrays});
  require_error([&] { refuse_unused_reading("", true, arrays, ClassifySettings::kReadOptionUse); },
                {"--drop-invalid is for files of points, not for " + arrays});
  refuse_unused_reading("", false, arrays, ClassifySettings::kReadOptionUse);
  refuse_unused_reading("x,y,z", true, files, ClassifySettings::kReadOptionUse);
}

TEST_CASE("the configurations for classification load, and none shows the test set during training") {
  for (const char* name : {"furniture", "infomr40", "infomr40_absolute", "modelnet40", "modelnet40_invariant"}) {
    INFO(name);
    ClassifySettings settings;
    settings.config().load_toml(source_path("tools/configs/") + name + ".toml");
    settings.check();
    CHECK_FALSE(settings.clouds.monitor_test);
    const bool of_paper = std::string(name).starts_with("modelnet40");
    CHECK((settings.clouds.point_sampling == PointSampling::fps) == of_paper);
    CHECK((settings.model.initialization == Initialization::paper) == of_paper);
  }
}

TEST_CASE("values that contradict each other are refused") {
  ClassifySettings settings;
  settings.check();
  settings.model.num_heads = 3;
  test::require_error([&] { settings.check(); }, {"num_heads", "3", "dim", "256"});
  settings = {};
  settings.augment.scale_high = settings.augment.scale_low;
  settings.check();
  settings.augment.scale_high = 0.5;
  test::require_error([&] { settings.check(); }, {"scale_low", "scale_high", "0.6", "0.5"});
  settings = {};
  settings.model.attention = "sparse";
  settings.model.primal.mask = MaskKind::neighbours;
  test::require_error([&] { settings.check(); }, {"mask", "neighbours", "nearest"});
  settings.model.attention = "conv2d";
  test::require_error([&] { settings.check(); }, {"attention", "conv2d", "grid"});
  settings = {};
  settings.model.chirality = true;
  test::require_error([&] { settings.check(); }, {"chirality", "angles", "paper"});
  settings.model.relative = PointRelative::angles;
  settings.check();
  settings.clouds.normals = false;
  test::require_error([&] { settings.check(); }, {"angles", "normals"});
}

TEST_CASE("configurations without a relative encoding have that of the paper") {
  ClassifySettings settings;
  settings.config().set_text("[model]\ntokens = 'radial'\n");
  CHECK(settings.classifier(2).relative == PointRelative::paper);
  CHECK_FALSE(settings.classifier(2).chirality);
}

TEST_CASE("the head samples as many tokens in evaluation as in training, unless it is asked for more") {
  ClassifySettings settings;
  const auto samples = [&] { return settings.classifier(2).head_sampler.num_samples; };
  settings.clouds.points = 1025;
  settings.model.head_num_samples = 512;
  CHECK(samples() == 512);
  settings.augment.drop_token_rate = 0.5;
  CHECK(samples() == 256);  // of 513 tokens
  settings.model.head_num_samples = 100;
  CHECK(samples() == 100);
  settings.model.head_num_samples = 512;
  settings.model.head_as_trained = false;
  CHECK(samples() == 512);
  settings.model.head_as_trained = true;
  settings.model.sampling.with_replacement = true;
  CHECK(samples() == 512);
}

TEST_CASE("the configuration of a RUN without keys of later versions has what went before them") {
  ClassifySettings settings;
  CHECK(settings.clouds.split_order == SplitOrder::hash);
  CHECK(settings.clouds.normal_orientation == NormalOrientation::outward);
  settings.config().set_text("[clouds]\npoints = 7\n");
  CHECK(settings.clouds.split_order == SplitOrder::hash);
  settings.config().set_run_text("[clouds]\npoints = 7\n", "a run");
  CHECK(settings.clouds.split_order == SplitOrder::name);
  CHECK(settings.clouds.normal_orientation == NormalOrientation::consistent);
  CHECK(settings.clouds.points == 7);
  CHECK_FALSE(settings.model.head_as_trained);
  settings.config().set_run_text("[clouds]\nsplit_order = 'hash'\n", "a run");
  CHECK(settings.clouds.split_order == SplitOrder::hash);
}

}  // namespace geosft::test::test_classify_settings
