// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_metrics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "models/training/metrics.h"
#include "tests/support.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_graph_metrics {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

at::Tensor logits() {
  return at::tensor({2.0f, 0.0f, -1.0f, 0.5f, 1.0f, 1.0f, 0.0f, 3.0f}).view({4, 2});
}

}  // namespace

TEST_CASE("the loss of classes is the cross entropy of those that are there") {
  const at::Tensor truth = at::tensor({0, 1, -1, 0}, at::kLong);
  const at::Tensor share = logits().log_softmax(1);
  const double expected = -(share[0][0] + share[1][1] + share[3][0]).item<double>() / 3;
  CHECK(graph_loss(GraphTask::node_classification, logits(), truth).item<double>() == Approx(expected));
  CHECK(graph_loss(GraphTask::node_classification, logits(), at::full({4}, -1, at::kLong)).item<double>() == 0.0);
  CHECK(graph_loss(GraphTask::classification, logits(), at::tensor({0, 1, 1, 1}, at::kLong), {.label_smoothing = 0.5})
            .item<double>() >
        graph_loss(GraphTask::classification, logits(), at::tensor({0, 1, 1, 1}, at::kLong)).item<double>());
}

TEST_CASE("losses of labels and targets leave out what is missing") {
  const at::Tensor labels = at::tensor({1.0f, nan, 0.0f, 1.0f, nan, nan, 1.0f, 0.0f}).view({4, 2});
  const auto entropy = [](double logit, double label) { return std::log1p(std::exp(label > 0 ? -logit : logit)); };
  const double expected = (entropy(2, 1) + entropy(-1, 0) + entropy(0.5, 1) + entropy(0, 1) + entropy(3, 0)) / 5;
  CHECK(graph_loss(GraphTask::multi_label, logits(), labels).item<double>() == Approx(expected));
  const at::Tensor targets = at::tensor({1.0f, nan, 0.0f, 1.0f, nan, nan, 1.0f, 0.0f}).view({4, 2});
  CHECK(graph_loss(GraphTask::regression, logits(), targets).item<double>() == Approx((1 + 1 + 0.5 + 1 + 3) / 5));
  CHECK(graph_loss(GraphTask::regression, logits(), targets, {.regression = RegressionLoss::mse}).item<double>() ==
        Approx((1 + 1 + 0.25 + 1 + 9) / 5));
  const at::Tensor none = at::full({4, 2}, nan);
  const at::Tensor free = logits().requires_grad_(true);
  const at::Tensor nothing = graph_loss(GraphTask::regression, free, none);
  nothing.backward();
  CHECK(nothing.item<double>() == 0.0);
  require_equal(free.grad(), at::zeros({4, 2}), "no gradient");
}

TEST_CASE("every task has its metrics, the one it goes by first") {
  const NamedValues classes = graph_metrics(GraphTask::classification, logits(), at::tensor({0, 1, 1, 1}, at::kLong));
  CHECK(classes[0] == std::pair<std::string, double>("accuracy", 0.75));
  CHECK(classes[1].first == "macro_f1");
  CHECK(value_of(classes, "roc_auc") == 1.0);
  const NamedValues nodes =
      graph_metrics(GraphTask::node_classification, logits(), at::tensor({0, -1, 1, -1}, at::kLong));
  CHECK(value_of(nodes, "accuracy") == 0.5);
  const at::Tensor labels = at::tensor({1.0f, 0.0f, 0.0f, 1.0f, nan, 0.0f, 1.0f, 0.0f}).view({4, 2});
  const NamedValues several = graph_metrics(GraphTask::multi_label, logits(), labels);
  CHECK(several[0].first == "average_precision");
  CHECK(several[0].second == Approx(mean_average_precision(logits(), labels)));
  const NamedValues targets = graph_metrics(GraphTask::regression, logits(), logits() + 1);
  CHECK(targets[0].first == "mae");
  CHECK(targets[0].second == Approx(1.0));
  CHECK(value_of(targets, "rmse") == Approx(1.0));
  CHECK_THROWS_AS(value_of(targets, "accuracy"), std::out_of_range);
}

TEST_CASE("the metric is the first of a list that the task has") {
  REQUIRE(score_style(GraphTask::multi_label, "roc_auc,rmse").name == "roc_auc");
  REQUIRE(score_style(GraphTask::regression, "roc_auc, rmse").name == "rmse");
  REQUIRE(score_style(GraphTask::regression, "rmse").lower_is_better);
  REQUIRE_FALSE(score_style(GraphTask::regression, "rmse").share);
  REQUIRE(score_style(GraphTask::multi_label, "prc_auc").share);
  REQUIRE(score_style(GraphTask::classification, "loss").lower_is_better);
  REQUIRE(score_style(GraphTask::regression, "auto").name == "mae");
  require_error([] { score_style(GraphTask::regression, "roc_auc,accuracy"); }, {"roc_auc,accuracy", "mae, r2, rmse"});
  require_error([] { score_style(GraphTask::regression, "rsme"); }, {"metric", "\"rsme\"", "rmse"});
}

TEST_CASE("the loss of a regression is absolute, squared, or both") {
  const at::Tensor outputs = at::tensor({0.0f, 0.5f, 3.0f, 1.0f}).view({2, 2});
  const at::Tensor targets = at::tensor({0.0f, 0.0f, 0.0f, nan}).view({2, 2});
  const auto loss = [&](RegressionLoss kind) {
    return graph_loss(GraphTask::regression, outputs, targets, {.regression = kind}).item<double>();
  };
  REQUIRE(loss(RegressionLoss::l1) == Approx(3.5 / 3));
  REQUIRE(loss(RegressionLoss::mse) == Approx(9.25 / 3));
  REQUIRE(loss(RegressionLoss::huber) == Approx((0.125 + 2.5) / 3));
}

TEST_CASE("macro F1 counts a class that is never predicted, over the nodes that have a class") {
  // Predicted 0, 0, 1 and, of a node without a class, 2; class 2 is never found where it is true.
  const at::Tensor outputs = at::eye(3).index_select(0, at::tensor({0, 0, 1, 2}, at::kLong));
  const at::Tensor truth = at::tensor({0, 2, 1, -1}, at::kLong);
  // Class 0: tp 1, fp 1; class 1: tp 1; class 2: fn 1.
  CHECK(graph_metric(GraphTask::node_classification, "macro_f1", outputs, truth) == Approx((2.0 / 3 + 1 + 0) / 3));
}

TEST_CASE("labels of nodes go by ROC-AUC, the mean over labels, as OGB's evaluator has it") {
  const at::Tensor labels = at::tensor({1.0f, 1.0f, 0.0f, 0.0f, nan, 0.0f, 1.0f, 0.0f}).view({4, 2});
  // First label: 2 and 0 are above -1. Second: 0 is below 0.5, 1 and 3, the fourth of four.
  const NamedValues both = graph_metrics(GraphTask::node_multi_label, logits(), labels);
  CHECK(both[0].first == "roc_auc");
  CHECK(both[0].second == Approx((1.0 + 0.0) / 2));
  CHECK(both[1].first == "average_precision");
  CHECK(both[1].second == Approx((1.0 + 0.25) / 2));
  const at::Tensor of_one_kind = labels.clone();
  of_one_kind.select(1, 1).fill_(0);
  CHECK(graph_metric(GraphTask::node_multi_label, "roc_auc", logits(), of_one_kind) == 1.0);
  CHECK(graph_loss(GraphTask::node_multi_label, logits(), labels).item<double>() ==
        graph_loss(GraphTask::multi_label, logits(), labels).item<double>());
  CHECK(known_targets(GraphTask::node_multi_label, labels).size(0) == 7);
}

TEST_CASE("the metric of a batch is that of a part, where it can be told without waiting for a device") {
  const at::Tensor classes = at::tensor({0, 1, 1, -1}, at::kLong);
  const auto batch = [&](GraphTask task, const char* name, const at::Tensor& targets) {
    return batch_metric(name, logits(), targets, known_targets(task, targets)).item<double>();
  };
  CHECK(batch(GraphTask::node_classification, "accuracy", classes) ==
        Approx(graph_metric(GraphTask::node_classification, "accuracy", logits(), classes)));
  at::Tensor targets = logits().flip(0) + 1;
  targets[1][0] = nan;
  CHECK(batch(GraphTask::regression, "mae", targets) ==
        Approx(graph_metric(GraphTask::regression, "mae", logits(), targets)));
  targets.select(1, 1).fill_(nan);
  CHECK(batch(GraphTask::regression, "mae", targets) ==
        Approx(graph_metric(GraphTask::regression, "mae", logits(), targets)));
  CHECK(std::isnan(batch(GraphTask::classification, "accuracy", at::full({4}, -1, at::kLong))));
  CHECK(std::isnan(batch(GraphTask::regression, "mae", at::full({4, 2}, nan))));
  CHECK(std::isnan(batch(GraphTask::classification, "macro_f1", classes)));
  CHECK(std::isnan(batch(GraphTask::regression, "rmse", targets)));
  CHECK((style_of("rmse").lower_is_better && !style_of("rmse").share && !style_of("r2").lower_is_better));
}

TEST_CASE("a metric alone is that of all, and another task's is none") {
  const at::Tensor classes = at::tensor({0, 1, 1, -1}, at::kLong);
  const at::Tensor labels = at::tensor({1.0f, 0.0f, 0.0f, 1.0f, nan, 0.0f, 1.0f, 0.0f}).view({4, 2});
  const std::vector<std::pair<GraphTask, at::Tensor>> cases = {{GraphTask::node_classification, classes},
                                                               {GraphTask::multi_label, labels},
                                                               {GraphTask::node_multi_label, labels},
                                                               {GraphTask::regression, logits().flip(0) + 1}};
  for (const auto& [task, targets] : cases) {
    for (const auto& [name, value] : graph_metrics(task, logits(), targets)) {
      CHECK(graph_metric(task, name, logits(), targets) == value);
    }
  }
  CHECK_THROWS_AS(graph_metric(GraphTask::regression, "accuracy", logits(), logits()), std::out_of_range);
}

TEST_CASE("a run goes by a metric that its task has") {
  CHECK(score_style(GraphTask::classification, "auto").name == "accuracy");
  CHECK(score_style(GraphTask::node_classification, "macro_f1").name == "macro_f1");
  CHECK(score_style(GraphTask::multi_label, "auto").name == "average_precision");
  CHECK(score_style(GraphTask::node_multi_label, "auto").name == "roc_auc");
  CHECK(score_style(GraphTask::node_multi_label, "average_precision").name == "average_precision");
  const ScoreStyle error = score_style(GraphTask::regression, "auto");
  CHECK(error.name == "mae");
  CHECK((error.lower_is_better && !error.share));
  CHECK(error.value(-2.0) == 2.0);
  CHECK(error.text(0.25) == "mae 0.25");
  CHECK(style_of("accuracy").text(0.5) == "accuracy 50.0 %");
  CHECK_THROWS_AS(score_style(GraphTask::regression, "accuracy"), UsageError);
}

}  // namespace geosft::test::test_graph_metrics
