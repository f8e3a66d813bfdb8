// SPDX-License-Identifier: Apache-2.0
// Results of several runs as a table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/graph/graph_metrics.h"

namespace geosft {

// Of the values of several runs: their mean and standard deviation (that of a sample; NaN for one run).
struct Summary {
  double mean = 0.0, deviation = 0.0;
};

struct ResultRow {
  std::string name;
  int64_t runs = 1;
  std::vector<std::pair<std::string, Summary>> values;  // by metric
  // By metric, too: how far these runs lie above those of the first row that they are compared with, pair by pair;
  // empty where they are not.
  std::vector<std::pair<std::string, Summary>> differences = {};
  std::vector<std::pair<std::string, std::string>> labels =
      {};  // by column: what tells the runs of the row from others
};

// The row of some runs that have the same metrics. At least one run.
ResultRow summarized(const std::string& name, const std::vector<NamedValues>& runs);

// A row a line, a column a label and a metric, shares in percent: "87.8 ± 5.1"; where rows are compared, a last column
// with the difference of the first metric. All rows have the same labels and metrics.
std::string markdown_table(const std::vector<ResultRow>& rows);
// run,LABEL,…,runs,METRIC,METRIC_deviation,…: values as they are, in the fewest digits that read back the same; no
// deviation for one run; where rows are compared, then METRIC_difference,METRIC_difference_deviation,… of all metrics.
std::string csv_table(const std::vector<ResultRow>& rows);

}  // namespace geosft
