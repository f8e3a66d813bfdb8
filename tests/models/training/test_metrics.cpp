// SPDX-License-Identifier: Apache-2.0
#include "models/training/metrics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tests/places.h"
#include "tests/support.h"
#include "tests/tensors.h"

namespace geosft::test::test_metrics {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// What scikit-learn said (tests/models/training/metrics_fixture.py).
nlohmann::json cases(const char* group) {
  std::ifstream file(fixture_path("metrics.json"));
  REQUIRE(file.good());
  return nlohmann::json::parse(file).at(group);
}

at::Tensor vector(const nlohmann::json& values, at::ScalarType dtype) {
  std::vector<double> numbers;
  for (const nlohmann::json& value : values) numbers.push_back(value.is_null() ? nan : value.get<double>());
  return at::tensor(numbers, at::kDouble).to(dtype);
}

at::Tensor table(const nlohmann::json& rows) {
  std::vector<at::Tensor> all;
  for (const nlohmann::json& row : rows) all.push_back(vector(row, at::kDouble));
  return at::stack(all);
}

void check_same(double found, const nlohmann::json& expected) {
  CHECK(std::abs(found - expected.get<double>()) <= 1e-9);
}

using Metric = double (*)(const at::Tensor&, const at::Tensor&);

// Metrics of two arguments that `read` makes of these members of an example, by their names in the fixture.
template <class Read>
void check_metrics(const char* group, const std::pair<const char*, const char*>& arguments, const Read& read,
                   const std::vector<std::pair<const char*, Metric>>& metrics) {
  for (const nlohmann::json& example : cases(group)) {
    const at::Tensor one = read(example.at(arguments.first)), other = read(example.at(arguments.second));
    for (const auto& [name, metric] : metrics) check_same(metric(one, other), example.at(name));
  }
}

at::Tensor doubles(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble);
}

}  // namespace

TEST_CASE("accuracy and F1 are those of scikit-learn") {
  const auto classes = [](const nlohmann::json& values) { return vector(values, at::kLong); };
  check_metrics("classes", {"predicted", "truth"}, classes,
                {{"accuracy", accuracy_score}, {"macro_f1", macro_f1_score}});
}

TEST_CASE("a class that is never predicted counts in macro F1 with 0, and so does one that is only predicted") {
  const std::vector<int64_t> truth = {0, 0, 1, 1, 2, 2, 4}, predicted = {0, 0, 1, 1, 1, 0, 5};
  // Classes 0 and 1: tp 2, fp 1, fn 0. Classes 2 and 4 are never predicted, class 5 is never true: F1 = 0. Class 3
  // occurs nowhere and does not count.
  CHECK(macro_f1_score(longs(predicted), longs(truth)) == Approx((0.8 + 0.8) / 5));
  double total = 0;
  for (const int64_t label : {0, 1, 2, 4, 5}) {
    double tp = 0, fp = 0, fn = 0;
    for (size_t i = 0; i < truth.size(); ++i) {
      tp += predicted[i] == label && truth[i] == label ? 1 : 0;
      fp += predicted[i] == label && truth[i] != label ? 1 : 0;
      fn += predicted[i] != label && truth[i] == label ? 1 : 0;
    }
    total += 2 * tp / (2 * tp + fp + fn);
  }
  CHECK(macro_f1_score(longs(predicted), longs(truth)) == Approx(total / 5));
  CHECK(macro_f1_score(longs({1, 1}), longs({0, 0})) == 0.0);
}

TEST_CASE("areas under curves of one label are those of scikit-learn, ties included") {
  for (const nlohmann::json& example : cases("one_label")) {
    const at::Tensor scores = vector(example.at("scores"), at::kDouble);
    const at::Tensor labels = vector(example.at("labels"), at::kBool);
    check_same(roc_auc_score(scores, labels), example.at("roc_auc"));
    check_same(average_precision_score(scores, labels), example.at("average_precision"));
    // Only the order of the scores counts, not that of the items.
    check_same(average_precision_score((scores * 3 + 1).flip(0), labels.flip(0)), example.at("average_precision"));
  }
}

TEST_CASE("missing labels and labels of one kind are left out of the means") {
  check_metrics("several_labels", {"scores", "labels"}, table,
                {{"roc_auc", mean_roc_auc}, {"average_precision", mean_average_precision}});
}

TEST_CASE("a class against the rest is as scikit-learn has it") {
  for (const nlohmann::json& example : cases("against_the_rest")) {
    check_same(one_vs_rest_roc_auc(table(example.at("scores")), vector(example.at("truth"), at::kLong)),
               example.at("roc_auc"));
  }
}

TEST_CASE("errors of regression are those of scikit-learn") {
  check_metrics("regression", {"predicted", "truth"}, table, {{"mae", mean_absolute_error}, {"r2", r2_score}});
}

TEST_CASE("precision against recall and squared errors have scikit-learn's values") {
  // auc(recall, precision) of precision_recall_curve, and the root of mean_squared_error, of scikit-learn 1.9.
  const at::Tensor scores = doubles({.9, .8, .7, .7, .6, .4, .35, .3, .2, .1});
  const at::Tensor labels = doubles({1, 0, 1, 1, 0, 0, 1, 0, 1, 0});
  REQUIRE(prc_auc_score(scores, labels == 1) == Approx(0.6626984126984128).epsilon(1e-12));
  REQUIRE(average_precision_score(scores, labels == 1) == Approx(0.7253968253968255).epsilon(1e-12));
  const at::Tensor more_scores = doubles({.5, .5, .5, .2, .9, .1, .3, .8, .6, .4});
  const at::Tensor more_labels = doubles({0, 0, 1, nan, 1, 0, nan, 0, 0, 1});
  REQUIRE(mean_prc_auc(at::stack({scores, more_scores, scores}, 1),
                       at::stack({labels, more_labels, at::zeros({10}, at::kDouble)}, 1)) ==
          Approx((0.6626984126984128 + 0.5714285714285714) / 2).epsilon(1e-12));
  const at::Tensor predicted = doubles({1., -1.5, 1., 3.5, -2., 12., 1., 27., -4., 2.5}).view({2, 5}).t();
  const at::Tensor truth = doubles({1.5, -2., .25, 4., -1., 10., nan, 30., -5., 2.}).view({2, 5}).t();
  REQUIRE(root_mean_squared_error(predicted, truth) ==
          Approx((0.6800735254367721 + 1.8874586088176875) / 2).epsilon(1e-12));
  REQUIRE(mean_absolute_error(predicted, truth) == Approx((0.65 + 1.625) / 2).epsilon(1e-12));
  REQUIRE(r2_score(predicted, truth) == Approx((0.8939220183486238 + 0.9792500910083728) / 2).epsilon(1e-12));
}

TEST_CASE("the root mean squared error is taken of each target, and averaged over targets") {
  const at::Tensor truth = doubles({0, 10, 0, nan, 0, 10}).view({3, 2});
  const at::Tensor predicted = doubles({1, 12, 2, 7, -2, 8}).view({3, 2});
  REQUIRE(root_mean_squared_error(predicted, truth) == Approx((std::sqrt(3.0) + 2.0) / 2));
}

TEST_CASE("targets that are missing are left out of errors") {
  const at::Tensor truth = doubles({1, nan, 3, 10, 20, nan}).view({3, 2});
  const at::Tensor predicted = doubles({1.5, 7, 3, 12, 20, 7}).view({3, 2});
  // First column 1, 3, 20 against 1.5, 3, 20; second 10 against 12.
  CHECK(mean_absolute_error(predicted, truth) == Approx((0.5 / 3 + 2.0) / 2));
  CHECK(r2_score(predicted, truth) == Approx(1 - 0.25 / 218.0));  // one number has no spread to compare with
}

TEST_CASE("a prediction that is NaN makes the metric NaN, whatever the other targets have") {
  const at::Tensor truth = doubles({0, 2, 0, 2, nan, 3}).view({3, 2}),
                   predicted = doubles({nan, 1, 2, 1, 5, 2}).view({3, 2});
  CHECK(std::isnan(mean_absolute_error(predicted, truth)));
  CHECK(std::isnan(root_mean_squared_error(predicted, truth)));
  CHECK(std::isnan(r2_score(predicted, truth)));
}

TEST_CASE("confidences are binned, and their error is the mean difference from the share that is right") {
  // Confidences 0.6 (right), 0.6 (wrong), 0.9 (right), 1 (right); with five bins 0.6 is in (0.4, 0.6].
  const at::Tensor shares = doubles({0.6, 0.4, 0.4, 0.6, 0.1, 0.9, 1.0, 0.0}).view({4, 2});
  const std::vector<ReliabilityBin> bins = reliability_bins(shares, longs({0, 0, 1, 0}), 5);
  REQUIRE(bins.size() == 5);
  CHECK(bins[0].count + bins[1].count + bins[3].count == 0);
  CHECK(std::isnan(bins[0].accuracy));
  CHECK(bins[2].count == 2);
  CHECK(bins[2].low == Approx(0.4));
  CHECK(bins[2].high == Approx(0.6));
  CHECK(bins[2].confidence == Approx(0.6));
  CHECK(bins[2].accuracy == Approx(0.5));
  CHECK(bins[4].count == 2);
  CHECK(bins[4].confidence == Approx(0.95));
  CHECK(bins[4].accuracy == Approx(1.0));
  CHECK(expected_calibration_error(bins) == Approx((2 * 0.1 + 2 * 0.05) / 4));
  CHECK(reliability_bins(shares, longs({0, 0, 1, 0})).size() == 15);
  CHECK(std::isnan(expected_calibration_error(reliability_bins(at::empty({0, 2}), at::empty({0}, at::kLong)))));
  require_error([&] { reliability_bins(shares.to(at::kLong), longs({0, 0, 1, 0})); }, {"probabilities", "floating"});
  require_error([&] { reliability_bins(shares, longs({0})); }, {"truth", "[4]", "[1]"});
  require_error([&] { reliability_bins(shares, longs({0, 0, 1, 0}), 0); }, {"bins", "at least 1"});
  require_error([&] { reliability_bins(shares * 2, longs({0, 0, 1, 0})); }, {"probabilities", "0 to 1"});
  require_error([&] { reliability_bins(shares * nan, longs({0, 0, 1, 0})); }, {"probabilities", "0 to 1"});
}

TEST_CASE("logits that are not numbers have no calibration, others that of their probabilities") {
  const at::Tensor logits = at::randn({6, 3}, generator(5)), truth = longs({0, 1, 2, 0, 1, 2});
  const std::vector<ReliabilityBin> bins = reliability_of_logits(logits, truth);
  CHECK(bins.size() == 15);
  CHECK(expected_calibration_error(bins) ==
        Approx(expected_calibration_error(reliability_bins(logits.to(at::kDouble).softmax(1), truth))));
  CHECK(reliability_of_logits(logits * nan, truth).empty());
  require_error([&] { reliability_of_logits(truth, truth); }, {"logits", "[n, classes]"});
}

TEST_CASE("the calibration error is that of the sum over pairs of bins and predictions") {
  const at::Tensor shares = at::randn({200, 5}, generator(3)).to(at::kDouble).softmax(1);
  const at::Tensor truth = at::randint(5, {200}, generator(4), at::kLong);
  const auto [confidence, predicted] = shares.max(1);
  double error = 0;
  for (int bin = 0; bin < 15; ++bin) {
    const at::Tensor inside = (confidence > bin / 15.0) & (confidence <= (bin + 1) / 15.0);
    const double count = inside.sum().item<double>();
    if (count == 0) continue;
    const double right = ((predicted == truth) & inside).sum().item<double>() / count;
    error += count / 200 * std::abs(right - confidence.masked_select(inside).mean().item<double>());
  }
  CHECK(expected_calibration_error(reliability_bins(shares, truth)) == Approx(error));
}

TEST_CASE("undefined metrics are NaN") {
  const at::Tensor none = at::empty({0}, at::kLong), scores = doubles({0.5, 0.25});
  CHECK(std::isnan(accuracy_score(none, none)));
  CHECK(std::isnan(macro_f1_score(none, none)));
  CHECK(std::isnan(roc_auc_score(scores, at::zeros({2}, at::kBool))));
  CHECK(std::isnan(average_precision_score(scores, at::zeros({2}, at::kBool))));
  const at::Tensor columns = scores.view({2, 1});
  CHECK(std::isnan(mean_average_precision(columns, at::ones({2, 1}, at::kDouble))));
  CHECK(std::isnan(mean_absolute_error(columns, at::full({2, 1}, nan, at::kDouble))));
}

TEST_CASE("metrics reject mismatched arguments") {
  const at::Tensor classes = longs({0, 1}), scores = doubles({0.5, 0.25});
  require_error([&] { accuracy_score(classes, longs({0})); }, {"truth", "[2]", "[1]"});
  require_error([&] { accuracy_score(scores, classes); }, {"predicted", "int64"});
  require_error([&] { macro_f1_score(longs({0, -1}), classes); }, {"0 and above"});
  require_error([&] { roc_auc_score(scores, classes); }, {"labels", "bool"});
  require_error([&] { average_precision_score(doubles({nan, 1}), at::ones({2}, at::kBool)); }, {"scores", "NaN"});
  require_error([&] { mean_roc_auc(scores, scores); }, {"scores", "[n, t]"});
  require_error([&] { mean_absolute_error(scores.view({2, 1}), scores.view({1, 2})); }, {"truth", "[2, 1]"});
  require_error([&] { one_vs_rest_roc_auc(scores, classes); }, {"scores", "[n, classes]"});
}

}  // namespace geosft::test::test_metrics
