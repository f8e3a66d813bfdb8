// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tools/experiment/main_guard.h"

namespace geosft::test::test_graph_experiment {
namespace {

const DatasetSplit split = {{0, 1, 2, 3}, {}, {4, 5, 6}};

const ItemOutputs outputs{small_graphs().schema};

GraphReport report_of(GraphTask task, int64_t renumberings = 0) {
  const CapturedStderr quiet;
  const PackedItems graphs = small_graphs(task);
  GraphRun run = small_graph_run(graphs.schema);
  return evaluate_graphs(run, graphs, split, GraphSplit::test, renumberings);
}

}  // namespace

TEST_CASE("reports of every task hold its metrics and the loss") {
  for (const GraphTask task : graph_tasks) {
    const GraphReport report = report_of(task);
    const nlohmann::json json = report_json(report, outputs);
    CHECK(json.at("task") == task_name(task));
    CHECK(json.at("split") == "test");
    CHECK(json.at("count") == 3);
    const bool classes = has_classes(task);
    CHECK(json.at("metrics").size() == report.metrics.size() + (classes ? 1 : 0));
    CHECK(json.at("metrics").contains("loss"));
    CHECK(json.at("metrics").contains("expected_calibration_error") == classes);
    CHECK(json.contains("prediction_agreement") == classes);
    CHECK(json.at("graphs_per_second") > 0);
    const std::string text = report_text(report, outputs);
    CHECK_THAT(text, Catch::Contains("3 graphs of the test split") && Catch::Contains(report.metrics.front().first));
    CHECK((text.find("\nclass") != std::string::npos) == classes);
  }
}

TEST_CASE("the confusion counts every graph of the part") {
  const GraphReport report = report_of(GraphTask::classification);
  CHECK(report.confusion.sum().item<int64_t>() == 3);
  CHECK(report.confusion.diagonal().sum().item<double>() / 3 == Approx(value_of(report.metrics, "accuracy")));
}

TEST_CASE("a class without items has a dash, not a share") {
  GraphReport report = report_of(GraphTask::classification);
  const int64_t classes = report.confusion.size(0);
  report.confusion = at::zeros({classes, classes}, at::kLong);
  report.confusion[0][0] = 3;
  report.confusion[0][1] = 1;
  const std::string text = report_text(report, outputs);
  CHECK_THAT(text, Catch::Contains("       4    75.0 %\n") && Catch::Contains("       0         -\n"));
}

TEST_CASE("why a metric is not a number is said") {
  GraphReport report = report_of(GraphTask::regression);
  CHECK_THAT(report_text(report, outputs), !Catch::Contains("not defined"));
  report.metrics = {{"r2", std::nan("")}, {"mae", 0.5}, {"roc_auc", std::nan("")}};
  CHECK_THAT(report_text(report, outputs), Catch::Contains("\nr2 is not defined: all targets are the same\n") &&
                                               Catch::Contains("\nroc_auc is not defined: no label has items of both"));
}

TEST_CASE("renumberings are compared with the graphs as they are") {
  const GraphReport plain = report_of(GraphTask::classification), moved = report_of(GraphTask::classification, 4);
  CHECK(plain.max_logit_difference == 0.0);
  CHECK(plain.prediction_agreement == 1.0);
  CHECK(moved.max_logit_difference > 0.0);
  CHECK((moved.prediction_agreement >= 0.0 && moved.prediction_agreement <= 1.0));
  CHECK(moved.metrics == plain.metrics);
  CHECK_THAT(report_text(moved, outputs), Catch::Contains("renumbered"));
}

TEST_CASE("a signal breaks an evaluation of graphs off") {
  install_interrupt_handler();
  std::raise(SIGINT);
  CHECK_THROWS_AS(report_of(GraphTask::regression), Interrupted);
  clear_interrupt();
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace geosft::test::test_graph_experiment
