// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/automatic_settings.h"

#include <catch2/catch.hpp>

#include "data/sequences/sequence_dataset.h"
#include "tests/data/files.h"
#include "tests/data/graphs/small_graphs.h"

namespace geosft::test::test_automatic_settings {
namespace {

// Series of these lengths, of which the first `train` are the training split.
PackedItems series_of(const std::vector<int64_t>& lengths, int64_t train) {
  const at::Tensor ptr = at::constant_pad_nd(at::tensor(lengths, at::kLong).cumsum(0), {1, 0});
  const auto count = static_cast<int64_t>(lengths.size());
  PackedItems series = packed_sequences(ptr, at::zeros({count}, at::kLong), {"a", "b"});
  series.node_values = at::zeros({ptr[-1].item<int64_t>(), 2});
  series.schema.node_values = 2;
  series.split = DatasetSplit{item_range(0, train), {}, item_range(train, count)};
  return series;
}

GraphSettings automatic() {
  GraphSettings settings;
  settings.config().set_text(
      "patch_size = 'auto'\n[splits]\nvalidation_fraction = 'auto'\n[model]\nbeta = 'auto'\ntoken_dropout = 'auto'\n"
      "feed_forward_dropout = 'auto'\n[train]\nepochs = 'auto'\nbatch_size = 'auto'\ndrop_token_rate = 'auto'\n");
  return settings;
}

GraphSettings resolved(const PackedItems& items) {
  GraphSettings settings = automatic();
  resolve_automatic(settings, items);
  CHECK(settings.config().to_toml().find("auto\"") == settings.config().to_toml().find("auto\"\nregression"));
  settings.check();
  return settings;
}

}  // namespace

TEST_CASE("patches make at most 32 tokens, until they are of 32 steps") {
  const auto patch = [](int64_t longest) { return resolved(series_of({1, longest}, 1)).patch; };
  CHECK(patch(1) == 1);
  CHECK(patch(32) == 1);
  CHECK(patch(33) == 2);
  CHECK(patch(315) == 10);
  CHECK(patch(1024) == 32);
  CHECK(patch(17984) == 32);
}

TEST_CASE("batches and epochs follow the number of training items") {
  const auto sizes = [](int64_t train) {
    const GraphSettings settings = resolved(series_of(std::vector<int64_t>(static_cast<size_t>(train) + 1, 4), train));
    return std::pair(settings.train.batch_size, settings.train.epochs);
  };
  CHECK(sizes(1) == std::pair<int64_t, int64_t>(8, 200));
  CHECK(sizes(40) == std::pair<int64_t, int64_t>(8, 200));
  CHECK(sizes(120) == std::pair<int64_t, int64_t>(8, 80));
  CHECK(sizes(270) == std::pair<int64_t, int64_t>(32, 134));
  CHECK(sizes(6599) == std::pair<int64_t, int64_t>(64, 30));
  CHECK(resolved(series_of(std::vector<int64_t>(1001, 4), 1000)).model.token_dropout == 0.1);
  CHECK(resolved(series_of({4, 4}, 1)).model.token_dropout == 0.2);
}

TEST_CASE("beta is that of the set's name and of the attention") {
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
  CHECK(beta("bn") == 0.25);
  CHECK(beta("linear_bn_sh") == 0.75);
  settings.model.beta_by_set = {{"Waves", {0.25}}};
  CHECK(beta("bn_sh") == 0.25);
  settings.model.beta_by_set = {{"Others", {0.25}}};
  CHECK(beta("bn_sh") == 0.5);
}

TEST_CASE("what is derived is said, and what is given stays") {
  GraphSettings settings = automatic();
  settings.patch = 5;
  const std::string text = resolve_automatic(settings, series_of({64, 4}, 1));
  CHECK(settings.patch == 5);
  CHECK(text.find("batch_size 8, epochs 200, validation_fraction 0.2") == 0);
  CHECK(resolve_automatic(settings, series_of({64, 4}, 1)).empty());
}

TEST_CASE("graphs have no patches, and folds count as they are trained on") {
  PackedItems graphs = small_graphs();
  CHECK(resolved(graphs).patch == 1);
  SplitSettings splits;
  splits.folds = 2;
  CHECK(data_sizes(graphs, splits).items == graphs.size() - graphs.size() / 2);
}

}  // namespace geosft::test::test_automatic_settings
