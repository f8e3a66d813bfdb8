// SPDX-License-Identifier: Apache-2.0
// Which runs there are; that they run is tested by geosft-graph train.
#include "tools/graph/experiment_runs.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support.h"
#include "tests/tools/experiment/small_graph_model.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_experiment_runs {

TEST_CASE("an experiment is a run for every seed and fold") {
  const PackedItems graphs = small_graphs();
  GraphSettings settings = small_graph_settings();
  settings.seed = 5;
  const std::vector<PlannedRun> one = planned_runs(settings, graphs);
  REQUIRE(one.size() == 1);
  CHECK(one[0].name.empty());
  settings.num_seeds = 2;
  const std::vector<PlannedRun> seeds = planned_runs(settings, graphs);
  REQUIRE(seeds.size() == 2);
  CHECK(seeds[1].name == "seed_6");
  CHECK(seeds[1].settings.seed == 6);
  CHECK(seeds[1].settings.num_seeds == 1);
  settings.cross_validation = true;
  settings.splits.folds = 3;
  const std::vector<PlannedRun> both = planned_runs(settings, graphs);
  REQUIRE(both.size() == 6);
  CHECK(both[5].name == "seed_6_fold_2");
  CHECK(both[5].settings.splits.fold == 2);
  CHECK_FALSE(both[5].settings.cross_validation);
  settings.num_seeds = 1;
  CHECK(planned_runs(settings, graphs)[2].name == "fold_2");
  PackedItems published = small_graphs();
  published.split = DatasetSplit{{0}, {1}, {2}};
  CHECK_THROWS_AS(planned_runs(settings, published), UsageError);
}

TEST_CASE("a fold is refused where the data are not split into folds") {
  GraphSettings settings = small_graph_settings();
  settings.splits.fold = 1;
  PackedItems graphs = small_graphs();
  const auto refused = [&] { require_error([&] { check_fold(settings, graphs); }, {"fold 1 is for split folds"}); };
  CHECK_NOTHROW(check_fold(settings, graphs));
  graphs.smiles.assign(static_cast<size_t>(graphs.size()), "C");  // split by scaffold
  refused();
  settings.splits.split = SplitKind::folds;
  CHECK_NOTHROW(check_fold(settings, graphs));
  graphs.node_split = at::zeros({3}, at::kLong);
  refused();
  settings.splits.split = SplitKind::random;
  refused();
  settings.splits.fold = 0;
  CHECK_NOTHROW(check_fold(settings, graphs));
}

TEST_CASE("several results end with their mean, one stands alone") {
  const std::vector<RunResult> results = {{"a", {{"mae", 1.0}}}, {"b", {{"mae", 3.0}}}};
  const std::vector<ResultRow> rows = experiment_rows(results);
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].name == "b");
  CHECK(rows[2].values[0].second.mean == 2.0);
  CHECK(experiment_rows({results[0]}).size() == 1);
}

TEST_CASE("several results as JSON: seeds, folds, and how many graphs a repetition tests") {
  const auto run = [](uint64_t seed, int64_t fold, int64_t count, double mae) {
    return RunResult{"r", {{"mae", mae}}, seed, fold, count, GraphTask::regression};
  };
  const nlohmann::json json = experiment_json({run(1, 0, 5, 1), run(1, 1, 4, 2), run(2, 0, 5, 3), run(2, 1, 4, 6)});
  CHECK(json.at("task") == "regression");
  CHECK(json.at("split") == "test");
  CHECK(json.at("rotation") == "none");
  CHECK(json.at("count") == 9);
  CHECK(json.at("repeats") == 2);
  CHECK(json.at("folds") == 2);
  CHECK(json.at("runs").size() == 4);
  CHECK(json.at("metrics").at("mae") == 3.0);
  CHECK(json.at("deviations").at("mae") == Approx(std::sqrt(14.0 / 3)));
  CHECK_FALSE(experiment_json({run(1, 0, 5, 1)}).contains("deviations"));
}

TEST_CASE("the validation split chooses the last epoch that chance does not tell from the best") {
  const auto chosen = [](const std::vector<double>& scores, int64_t items, const std::string& metric = "accuracy") {
    std::vector<MetricsRow> rows;
    for (size_t i = 0; i < scores.size(); ++i) {
      rows.push_back({.epoch = static_cast<int64_t>(i) + 1, .split = "train", .score = 0.0});
      rows.push_back({.epoch = static_cast<int64_t>(i) + 1, .split = "validation", .score = scores[i]});
    }
    return chosen_epoch(rows, items, style_of(metric));
  };
  CHECK(chosen({0.5, 0.9, 0.9, 0.6}, 1000) == 3);
  CHECK(chosen({0.5, 0.9, 0.88, 0.6}, 100) == 3);  // the standard error is 0.03
  CHECK(chosen({0.5, 1.0, 2.0 / 3}, 3) == 3);      // one of three items
  CHECK(chosen({0.5, 1.0, 0.9, 0.7}, 10) == 3);    // two of ten items fail
  CHECK(chosen({0.9, 0.7, 0.8}, 1000) == 1);
  CHECK(chosen({3.0, 1.0, 1.1, 1.0, 2.0}, 9, "rmse") == 4);
  CHECK(chosen({std::nan(""), 0.5, std::nan("")}, 4) == 2);
  CHECK(chosen_epoch({{.epoch = 7, .split = "train"}}, 4, style_of("accuracy")) == 7);
}

TEST_CASE("configurations are compared run by run of the same seed and fold") {
  const auto run = [](uint64_t seed, int64_t fold, double mae) { return RunResult{"", {{"mae", mae}}, seed, fold}; };
  const std::vector<RunResult> first = {run(1, 0, 1.0), run(1, 1, 5.0), run(2, 0, 9.0)};
  const auto differences = paired_differences({run(2, 0, 10.0), run(1, 1, 8.0), run(3, 0, 99.0)}, first);
  REQUIRE(differences.size() == 1);
  CHECK(differences[0].first == "mae");
  CHECK(differences[0].second.mean == 2.0);
  CHECK(differences[0].second.deviation == Approx(std::sqrt(2.0)));
  CHECK(std::isnan(paired_differences({run(1, 0, 2.0)}, first)[0].second.deviation));
  CHECK(paired_differences({run(7, 0, 2.0)}, first).empty());
}

}  // namespace geosft::test::test_experiment_runs
