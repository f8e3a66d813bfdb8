// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/automatic_settings.h"

#include <catch2/catch.hpp>

#include "data/sequences/sequence_dataset.h"
#include "tests/data/files.h"
#include "tests/data/graphs/small_graphs.h"

namespace geosft::test::test_automatic_settings {
namespace {

// Series of these lengths, of which the first `train` are the training split.
PackedItems series_of(const std::vector<int64_t>& lengths, int64_t train, int64_t values = 2) {
  const at::Tensor ptr = at::constant_pad_nd(at::tensor(lengths, at::kLong).cumsum(0), {1, 0});
  const auto count = static_cast<int64_t>(lengths.size());
  PackedItems series = packed_sequences(ptr, at::zeros({count}, at::kLong), {"a", "b"});
  series.node_values = at::zeros({ptr[-1].item<int64_t>(), values});
  series.schema.node_values = values;
  series.split = DatasetSplit{item_range(0, train), {}, item_range(train, count)};
  return series;
}

GraphSettings automatic() {
  GraphSettings settings;
  settings.config().set_text(
      "patch_size = 'auto'\n[splits]\nvalidation_fraction = 'auto'\n[model]\nbeta = 'auto'\ntoken_dropout = 'auto'\n"
      "feed_forward_dropout = 'auto'\n[train]\nepochs = 'auto'\nbatch_size = 'auto'\n");
  return settings;
}

GraphSettings resolved(const PackedItems& items) {
  GraphSettings settings = automatic();
  resolve_automatic(settings, items);
  std::string toml = settings.config().to_toml();
  for (const std::string key : {"\nsplit = \"auto\"", "\nmetric = \"auto\""}) {  // of these the value stays
    REQUIRE(toml.find(key) != std::string::npos);
    toml.erase(toml.find(key), key.size());
  }
  REQUIRE(toml.find("\"auto\"") == std::string::npos);
  settings.check();
  return settings;
}

}  // namespace

TEST_CASE("patches make at most 32 tokens, until they are long or wide", "[automatic_settings]") {
  const auto patch = [](int64_t longest, int64_t values = 2) {
    return resolved(series_of({1, longest}, 1, values)).patch_size;
  };
  REQUIRE(patch(1) == 1);
  REQUIRE(patch(32) == 1);
  REQUIRE(patch(33) == 2);
  REQUIRE(patch(315) == 10);
  REQUIRE(patch(1024) == 32);
  REQUIRE(patch(17984) == 32);
  REQUIRE(patch(405, 61) == 8);
  REQUIRE(patch(144, 963) == 1);
}

TEST_CASE("batches, epochs and dropout follow the number of training items", "[automatic_settings]") {
  const auto sizes = [](int64_t train) {
    const GraphSettings settings =
        resolved(series_of(std::vector<int64_t>(static_cast<size_t>(train) + 1, 4), train, 2));
    return std::pair(settings.train.batch_size, settings.train.epochs);
  };
  REQUIRE(sizes(1) == std::pair<int64_t, int64_t>(16, 400));
  REQUIRE(sizes(40) == std::pair<int64_t, int64_t>(16, 400));
  REQUIRE(sizes(120) == std::pair<int64_t, int64_t>(16, 150));
  REQUIRE(sizes(270) == std::pair<int64_t, int64_t>(16, 71));
  REQUIRE(sizes(6599) == std::pair<int64_t, int64_t>(64, 30));
  const auto dropout = [](int64_t values) {
    const GraphModelSettings model = resolved(series_of(std::vector<int64_t>(41, 4), 40, values)).model;
    REQUIRE(model.token_dropout == model.feed_forward_dropout);
    return model.token_dropout;
  };
  REQUIRE(dropout(40) == 0.1);
  REQUIRE(dropout(41) == 0.2);
}

TEST_CASE("beta is that of the set's name and of the attention", "[automatic_settings]") {
  const TemporaryFolder folder;
  write_text(folder / "Waves_TRAIN.ts", "");
  GraphSettings settings = automatic();
  settings.data = folder.path().string();
  settings.model.beta_by_set = {{"Waves", {0.25, 0.75}}};
  const auto beta = [&](const std::string& attention) {
    settings.model.attention = attention;
    settings.model.primal.beta = automatic_value<double>();
    resolve_automatic(settings, series_of({4, 4}, 1));
    return settings.model.primal.beta;
  };
  REQUIRE(beta("bn") == 0.25);
  REQUIRE(beta("linear_bn_sh") == 0.75);
  settings.model.beta_by_set = {{"Waves", {0.25}}};
  REQUIRE(beta("bn_sh") == 0.25);
  settings.model.beta_by_set = {{"Others", {0.25}}};
  REQUIRE(beta("bn_sh") == 0.5);
}

TEST_CASE("nothing is held out where no class has three items", "[automatic_settings]") {
  const auto fraction = [](const std::vector<int64_t>& classes) {
    const auto count = static_cast<int64_t>(classes.size());
    PackedItems series = series_of(std::vector<int64_t>(classes.size(), 4), count - 1);
    series.schema.output_names = {"a", "b", "c"};
    series.target = at::tensor(classes, at::kLong);
    return resolved(series).splits.validation_fraction;
  };
  REQUIRE(fraction({0, 1, 2, 0, 1, 2, 2}) == 0.0);  // the last is for testing
  REQUIRE(fraction({0, 1, 2, 0, 0, 2, 2}) == 0.2);
  PackedItems targets = series_of({4, 4, 4, 4}, 3);
  targets.schema.task = GraphTask::regression;
  targets.target = at::zeros({4, 1});
  REQUIRE(resolved(targets).splits.validation_fraction == 0.2);
}

TEST_CASE("what is derived is said, and what is given stays", "[automatic_settings]") {
  GraphSettings settings = automatic();
  settings.patch_size = 5;
  const std::string text = resolve_automatic(settings, series_of({64, 4}, 1));
  REQUIRE(settings.patch_size == 5);
  REQUIRE(text.find("batch_size 16, epochs 400, validation_fraction 0.0") == 0);
  REQUIRE(resolve_automatic(settings, series_of({64, 4}, 1)).empty());
}

TEST_CASE("graphs have no patches, and folds count as they are trained on", "[automatic_settings]") {
  PackedItems graphs = small_graphs();
  REQUIRE(resolved(graphs).patch_size == 1);
  SplitSettings splits;
  splits.folds = 2;
  REQUIRE(data_sizes(graphs, splits).items == graphs.size() - graphs.size() / 2);
}

TEST_CASE("models of graphs grow with their number and size", "[automatic_settings]") {
  const auto sizes = [](int64_t items, int64_t nodes) {
    PackedItems graphs = series_of(std::vector<int64_t>(static_cast<size_t>(items), nodes), items);
    graphs.split.reset();
    graphs.schema.items = "graphs";
    GraphSettings settings;
    settings.config().set_text(
        "[splits]\nvalidation_fraction = 'auto'\n[model]\ndim = 'auto'\nnum_heads = 'auto'\ndepth = 'auto'\n"
        "num_samples = 'auto'\n[train]\nepochs = 'auto'\nbatch_size = 'auto'\nema_decay = 'auto'\n");
    resolve_automatic(settings, graphs);
    settings.check();
    return settings;
  };
  const GraphSettings few = sizes(188, 18), some = sizes(600, 33), many = sizes(12000, 151);
  CHECK((few.model.dim == 32 && few.model.num_heads == 4 && few.model.depth == 3));
  CHECK((few.model.sampling.num_samples == 8 && few.train.batch_size == 16 && few.train.epochs == 200));
  CHECK((few.splits.validation_fraction == 0.1 && few.train.optimization.average_decay == 0.991));
  CHECK((some.model.dim == 64 && some.model.num_heads == 8 && some.model.sampling.num_samples == 16));
  CHECK((some.train.batch_size == 16 && some.train.epochs == 89));
  CHECK((many.model.depth == 4 && many.model.sampling.num_samples == 64 && many.train.batch_size == 64));
  CHECK((many.train.epochs == 20 && sizes(40, 5).splits.validation_fraction == 0.0));
  CHECK(sizes(40, 5).model.sampling.num_samples == 4);
}

}  // namespace geosft::test::test_automatic_settings
