// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/random_forest_training.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_random_forest_training {
namespace {

// Logarithms of counts, of which the last two decide together.
at::Tensor example_features(int64_t rows, uint64_t seed) {
  return at::rand({rows, 12}, generator(seed)).sub(0.4).clamp_min(0).mul(6).floor().log1p();
}

at::Tensor example_labels(const at::Tensor& features) {
  return features.select(1, 10).gt(0).logical_xor(features.select(1, 11).gt(0)).to(at::kDouble).unsqueeze(1);
}

RandomForestOptions options_of(int64_t trees = 50) {
  RandomForestOptions options;
  options.trees = trees;
  options.seed = 3;
  return options;
}

double accuracy(const RandomForest& forest, const at::Tensor& features, const at::Tensor& labels) {
  return forest.predict(features).gt(0).eq(labels.gt(0)).to(at::kDouble).mean().item<double>();
}

}  // namespace

TEST_CASE("a random forest learns what two counts say together, whatever the number of threads") {
  const at::Tensor features = example_features(400, 1), others = example_features(400, 11);
  const RandomForest forest = fit_random_forest(features, example_labels(features), options_of());
  // 0.837 at least over 535 seeds; a linear rule of the two counts has about 0.6.
  CHECK(accuracy(forest, others, example_labels(others)) > 0.75);
  const int threads = at::get_num_threads();
  at::set_num_threads(threads == 1 ? 2 : 1);
  const RandomForest again = fit_random_forest(features, example_labels(features), options_of());
  at::set_num_threads(threads);
  for (const auto& [name, tensor] : forest.state()) require_equal(again.state().at(name), tensor, name);
  RandomForestOptions other = options_of();
  other.seed = 4;
  const RandomForest of_other_seed = fit_random_forest(features, example_labels(features), other);
  CHECK_FALSE(at::equal(of_other_seed.predict(others), forest.predict(others)));
}

TEST_CASE("leaves have the mean of at least two rows, of trees that see different rows") {
  const at::Tensor features = at::arange(1, 7, at::kFloat).unsqueeze(1);
  const at::Tensor labels = at::tensor({0., 0., 0., 1., 1., 1.}, at::kDouble).unsqueeze(1);
  const RandomForest forest = fit_random_forest(features, labels, options_of(40));
  const at::Tensor feature = forest.state().at("feature"), value = forest.state().at("value");
  const at::Tensor thresholds = value.masked_select(feature.ge(0));
  CHECK(thresholds.gt(1).logical_and(thresholds.lt(6)).all().item<bool>());
  CHECK(std::get<0>(at::_unique(thresholds)).numel() > 1);
  const at::Tensor logits = forest.predict(features).squeeze(1);
  CHECK(logits.diff().ge(-1e-9).all().item<bool>());  // each tree is a step upwards
  CHECK(logits[0].item<double>() < -1);
  CHECK(logits[5].item<double>() > 1);
}

TEST_CASE("unknown labels are left out, labels of one kind and features of one value are the share alone") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor features = example_features(100, 1), labels = example_labels(features);
  at::Tensor some = labels.clone();
  some.slice(0, 60).fill_(nan);
  const at::Tensor targets = at::cat({some, at::ones({100, 1}, at::kDouble), at::full({100, 1}, nan, at::kDouble)}, 1);
  const RandomForest forest = fit_random_forest(features, targets, options_of());
  const RandomForest of_known = fit_random_forest(features.slice(0, 0, 60), labels.slice(0, 0, 60), options_of());
  require_equal(forest.predict(features).select(1, 0), of_known.predict(features).select(1, 0), "known labels");
  const at::Tensor share = at::tensor({101.0 / 102, 0.5}, at::kDouble);
  require_close(forest.predict(features).slice(1, 1), share.logit().expand({100, 2}), 1e-5, "shares");
  const RandomForest of_nothing = fit_random_forest(at::ones({100, 2}), labels, options_of());
  const double ones = labels.sum().item<double>();
  const at::Tensor only = at::full({100, 1}, (ones + 1) / 102, at::kDouble).logit();
  require_close(of_nothing.predict(at::ones({100, 2})), only, 1e-5, "constant features");
}

TEST_CASE("columns before the first are not used") {
  const at::Tensor features = example_features(300, 1), labels = features.narrow(1, 0, 1).gt(0).to(at::kDouble);
  RandomForestOptions options = options_of();
  const auto smallest = [&] {
    const at::Tensor feature = fit_random_forest(features, labels, options).state().at("feature");
    return feature.masked_select(feature.ge(0)).min().item<int32_t>();
  };
  CHECK(smallest() == 0);
  options.first_column = 2;
  CHECK(smallest() == 2);
}

TEST_CASE("other shapes are refused") {
  const at::Tensor features = example_features(10, 1);
  require_error([&] { fit_random_forest(features, at::zeros({9, 1}), options_of()); }, {"labels", "10 rows"});
  require_error([&] { fit_random_forest(features, at::zeros({10}), options_of()); }, {"labels"});
  require_error([&] { fit_random_forest(features[0], at::zeros({10, 1}), options_of()); }, {"features"});
}

}  // namespace geosft::test::test_random_forest_training
