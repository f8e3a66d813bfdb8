// SPDX-License-Identifier: Apache-2.0
// Formats the results of several runs as a table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/experiment/graph_metrics.h"

namespace geosft {

// Mean and sample standard deviation (NaN for one run) over the runs that have the metric, `counted` of `runs`: a fold
// without a class has no ROC AUC.
struct Summary {
  double mean = 0.0, deviation = 0.0;
  int64_t counted = 1, runs = 1;
};

struct ResultRow {
  std::string name;
  int64_t runs = 1;
  std::vector<std::pair<std::string, Summary>> values;  // per metric
  // Per metric: paired differences to the runs of the first row; empty if rows are not compared.
  std::vector<std::pair<std::string, Summary>> differences = {};
  std::vector<std::pair<std::string, std::string>> labels = {};  // by column: what distinguishes this row's runs
};

// Summarises at least one run; all must have the same metrics.
ResultRow summarized(const std::string& name, const std::vector<NamedValues>& runs);

// Returns one line per row, one column per label and metric, shares in percent: "87.8 ± 5.1", with
// "(9 of 10)" behind it for a metric that not all runs have; if rows are compared, a
// last column shows the difference of the first metric. All rows have the same labels and metrics.
std::string markdown_table(const std::vector<ResultRow>& rows);
// Returns run,LABEL,…,runs,METRIC,METRIC_deviation,…: values with the fewest digits that round-trip; no deviation for
// one run. If a metric is missing in some run, columns METRIC_runs follow those of the metrics. If rows are compared,
// METRIC_difference,METRIC_difference_deviation,… of all metrics follow.
std::string csv_table(const std::vector<ResultRow>& rows);

}  // namespace geosft
