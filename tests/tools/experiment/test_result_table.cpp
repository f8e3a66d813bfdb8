// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/result_table.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace geosft::test::test_result_table {

TEST_CASE("the row of several runs is their mean and the deviation of a sample") {
  const ResultRow row = summarized("x", {{{"accuracy", 0.8}, {"mae", 1.0}}, {{"mae", 4.0}, {"accuracy", 0.9}}});
  CHECK(row.runs == 2);
  CHECK(row.values[0].first == "accuracy");
  CHECK(row.values[0].second.mean == Approx(0.85));
  CHECK(row.values[0].second.deviation == Approx(std::sqrt(0.005)));
  CHECK(row.values[1].second.mean == Approx(2.5));
  CHECK(std::isnan(summarized("x", {{{"mae", 1.0}}}).values[0].second.deviation));
}

TEST_CASE("a metric that a fold lacks is summarised over the others, and that is said") {
  const double none = std::nan("");
  const std::vector<NamedValues> runs = {{{"accuracy", 0.5}, {"roc_auc", 0.75}},
                                         {{"accuracy", 0.5}, {"roc_auc", none}},
                                         {{"accuracy", 0.5}, {"roc_auc", 0.25}}};
  const ResultRow row = summarized("mean", runs);
  CHECK((row.values[0].second.counted == 3 && row.values[0].second.runs == 3));
  CHECK((row.values[1].second.counted == 2 && row.values[1].second.runs == 3));
  CHECK(row.values[1].second.mean == Approx(0.5));
  CHECK(row.values[1].second.deviation == Approx(std::sqrt(0.125)));
  const ResultRow without = summarized("b", {runs[1]});
  CHECK(std::isnan(without.values[1].second.mean));
  CHECK(markdown_table({without, row}) ==
        "| run | accuracy (%) | roc_auc (%) |\n|---|---|---|\n| b | 50.0 | none |\n"
        "| mean | 50.0 ± 0.0 | 50.0 ± 35.4 (2 of 3) |\n");
  CHECK(csv_table({without, row}) ==
        "run,runs,accuracy,accuracy_deviation,roc_auc,roc_auc_deviation,accuracy_runs,roc_auc_runs\n"
        "b,1,0.5,,,,1,0\nmean,3,0.5,0,0.5,0.3535533905932738,3,2\n");
}

TEST_CASE("tables show shares in percent and write values as they are") {
  const std::vector<NamedValues> runs = {{{"accuracy", 0.75}, {"mae", 0.12345}}, {{"accuracy", 0.5}, {"mae", 0.25}}};
  const std::vector<ResultRow> rows = {summarized("a,b", {runs[0]}), summarized("both", runs)};
  CHECK(markdown_table(rows) ==
        "| run | accuracy (%) | mae |\n|---|---|---|\n| a,b | 75.0 | 0.1235 |\n| both | 62.5 ± 17.7 | 0.1867 ± 0.0895 "
        "|\n");
  const std::string csv = csv_table(rows);
  CHECK(csv.substr(0, csv.find('\n')) == "run,runs,accuracy,accuracy_deviation,mae,mae_deviation");
  CHECK(csv.find("\n\"a,b\",1,0.75,,0.12345,\n") != std::string::npos);
  CHECK(csv.find("\nboth,2,0.625,0.1767766952966369,") != std::string::npos);
}

TEST_CASE("labels are columns behind the name") {
  ResultRow row = summarized("a", {{{"accuracy", 0.5}}});
  row.labels = {{"score", "dot"}, {"k", "8, at most"}};
  CHECK(markdown_table({row}) ==
        "| run | score | k | accuracy (%) |\n|---|---|---|---|\n| a | dot | 8, at most | 50.0 |\n");
  CHECK(csv_table({row}) == "run,score,k,runs,accuracy,accuracy_deviation\na,dot,\"8, at most\",1,0.5,\n");
}

TEST_CASE("compared rows have the difference from the first, the first none") {
  const std::vector<NamedValues> one = {{{"accuracy", 0.75}, {"loss", 1.0}}, {{"accuracy", 0.5}, {"loss", 2.0}}};
  std::vector<ResultRow> rows = {summarized("a", one), summarized("b", one)};
  rows[1].differences = {{"accuracy", {0.125, 0.25}}, {"loss", {-0.5, 0.1}}};
  const std::string table = markdown_table(rows);
  CHECK(table.find("| run | accuracy (%) | loss | accuracy less the first's (%) |\n|---|---|---|---|\n") == 0);
  CHECK(table.find("| a | 62.5 ± 17.7 | 1.5000 ± 0.7071 | |\n") != std::string::npos);
  CHECK(table.find("| b | 62.5 ± 17.7 | 1.5000 ± 0.7071 | 12.5 ± 25.0 |\n") != std::string::npos);
  const std::string csv = csv_table(rows);
  CHECK(csv.substr(0, csv.find('\n')) ==
        "run,runs,accuracy,accuracy_deviation,loss,loss_deviation,accuracy_difference,accuracy_difference_deviation,"
        "loss_difference,loss_difference_deviation");
  CHECK(csv.find("\na,2,0.625,0.1767766952966369,1.5,0.7071067811865476,,,,\n") != std::string::npos);
  CHECK(csv.find(",0.125,0.25,-0.5,0.1\n") != std::string::npos);
}

}  // namespace geosft::test::test_result_table
