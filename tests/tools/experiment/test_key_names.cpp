// SPDX-License-Identifier: Apache-2.0
#include "tests/places.h"
#include "tools/experiment/key_names.h"

#include <catch2/catch.hpp>

#include "tests/support.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/unused_options.h"
#include "tools/experiment/graph_settings.h"

namespace geosft::test::test_key_names {

TEST_CASE("the edit distance counts insertions, deletions, substitutions and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("epohcs", "epochs") == 1);
  CHECK(edit_distance("layers", "layers") == 0);
}

TEST_CASE("the nearest name is the closest one, the first of equals") {
  CHECK(nearest_name("weight_dcay", {"layers", "weight_decay", "warmup"}) == "weight_decay");
  CHECK(nearest_name("abcd", {"abce", "abcf"}) == "abce");
  CHECK(nearest_name("--epoch", {"--out", "--epochs"}) == "--epochs");
  CHECK(nearest_name("maxout", {"dot_attention", "maxout_attention"}) == "maxout_attention");
}

TEST_CASE("nothing is near a name that is no misspelling") {
  CHECK(nearest_name("b", {"a", "c"}).empty());
  CHECK(nearest_name("anything", {}).empty());
  CHECK(nearest_name("frobnicate", {"epochs", "lr"}).empty());
  CHECK(nearest_name(std::string(100000000, 'b'), {"a", "b"}).empty());
  CHECK(nearest_hint("frobnicate", {"epochs", "lr"}).empty());
  CHECK(nearest_hint("epoch", {"epochs", "lr"}) == "; the nearest known is 'epochs'");
}

TEST_CASE("hints know the words of other libraries, and former names") {
  GraphSettings settings;
  const Config config = settings.config();
  for (const auto& [word, key] : {std::pair("ema", "ema_decay"),
                                  {"dropout", "token_dropout"},
                                  {"clip", "clip_grad_norm"},
                                  {"hidden_dim", "dim"},
                                  {"hidden", "dim"},
                                  {"num_layers", "depth"},
                                  {"learning_rte", "lr"}}) {
    require_error([&, word = word] { config.assign(word, "1"); }, {"unknown key", std::string("'") + key + "'"});
  }
  CHECK(nearest_name("--pretrained", {"--out", "--resume"}) == "--resume");
  CHECK(nearest_name("--max_epoch", {"--out", "--epochs"}) == "--epochs");
  CHECK(nearest_name("--grid_size", {"--out", "--points"}).empty());  // there are no voxels
  CHECK(nearest_name("test", {"train", "eval"}) == "eval");
  CHECK(former_value("split_order") == "name");
  CHECK(former_value("lr").empty());
  CHECK(nearest_name("--learning-rat", {"--lr", "--learning-rate"}) == "--lr");
}

TEST_CASE("former names of options are taken, with a notice") {
  const auto said = [](const std::vector<std::string>& options) {
    const CapturedStderr captured;
    const std::string unused = said_of_unused<GraphSettings>("", options);
    CHECK(unused.empty());
    return captured.text();
  };
  CHECK(said({"--learning-rate", "0.5"}) ==
        "--learning-rate is now called --lr; the next release takes the new name alone\n");
  CHECK(said({"--no-every-fold"}) ==
        "--every-fold is now called --cross-validation; the next release takes the new name alone\n");
  CHECK(said({"--lr", "0.5", "--cross-validation"}).empty());
  CHECK_THROWS_AS(said({"--lr", "0.5", "--learning-rate", "0.5"}), UsageError);
}

TEST_CASE("the configuration of a RUN folder with former keys means the same") {
  GraphSettings settings;
  settings.config().load_toml(fixture_path("former_keys.toml"));
  CHECK(settings.num_seeds == 2);
  CHECK(settings.cross_validation);
  CHECK(settings.max_length == 9);
  CHECK(settings.patch_size == 4);
  CHECK(settings.model.dim == 8);
  CHECK(settings.model.num_heads == 2);
  CHECK(settings.model.depth == 1);
  CHECK(settings.model.sampling.num_samples == 4);
  CHECK(settings.model.head_num_samples == 32);
  CHECK(settings.model.polynomial.max_monomials == 600);
  CHECK(settings.train.optimization.learning_rate == 0.01);
  CHECK(settings.train.optimization.max_gradient_norm == 3.0);
  CHECK(settings.train.optimization.average_decay == 0.5);
  CHECK(settings.train.drop_token_rate == 0.25);
  GraphSettings again;
  const std::string present = settings.config().to_toml();
  again.config().set_text(present);
  CHECK(again.config().to_toml() == present);
  CHECK_THAT(present, Catch::Contains("clip_grad_norm = 3.0") && !Catch::Contains("max_gradient_norm"));
}

}  // namespace geosft::test::test_key_names
