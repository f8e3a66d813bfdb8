// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/result_table.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>

#include "tools/experiment/plot_curves.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

std::string exact_text(double value) {
  return std::isnan(value) ? "" : shortest_text(value);
}

std::string rounded_text(double value, const ScoreStyle& style) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(style.share ? 1 : 4) << (style.share ? 100 * value : value);
  return out.str();
}

bool compared(const std::vector<ResultRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const ResultRow& row) { return !row.differences.empty(); });
}

bool any_partial(const std::vector<ResultRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const ResultRow& row) {
    return std::any_of(row.values.begin(), row.values.end(),
                       [](const auto& value) { return value.second.counted < value.second.runs; });
  });
}

std::string cell_text(const std::string& metric, const Summary& value) {
  const ScoreStyle style = style_of(metric);
  std::string text = value.counted == 0 ? "none" : rounded_text(value.mean, style);
  if (!std::isnan(value.deviation)) text += " ± " + rounded_text(value.deviation, style);
  if (value.counted < value.runs && value.runs > 1) {
    text += " (" + std::to_string(value.counted) + " of " + std::to_string(value.runs) + ")";
  }
  return text;
}

}  // namespace

ResultRow summarized(const std::string& name, const std::vector<NamedValues>& runs) {
  ResultRow row{name, static_cast<int64_t>(runs.size()), {}};
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [metric, first] : runs.front()) {
    std::vector<double> values;
    for (const NamedValues& run : runs) values.push_back(value_of(run, metric));
    std::erase_if(values, [](double value) { return std::isnan(value); });
    const double count = static_cast<double>(values.size());
    const double mean = values.empty() ? none : std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0.0;
    for (const double value : values) squares += std::pow(value - mean, 2);
    const double deviation = values.size() > 1 ? std::sqrt(squares / (count - 1)) : none;
    row.values.emplace_back(metric, Summary{mean, deviation, static_cast<int64_t>(values.size()), row.runs});
  }
  return row;
}

std::string markdown_table(const std::vector<ResultRow>& rows) {
  std::string text = "| run |", rule = "|---|";
  for (const auto& [label, value] : rows.front().labels) {
    text += " " + label + " |";
    rule += "---|";
  }
  for (const auto& [metric, value] : rows.front().values) {
    text += " " + metric + (style_of(metric).share ? " (%) |" : " |");
    rule += "---|";
  }
  const bool differ = compared(rows);
  if (differ) {
    const std::string& metric = rows.front().values.front().first;
    text += " " + metric + " less the first's" + (style_of(metric).share ? " (%) |" : " |");
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const ResultRow& row : rows) {
    text += "| " + row.name + " |";
    for (const auto& [label, value] : row.labels) text += " " + value + " |";
    for (const auto& [metric, value] : row.values) text += " " + cell_text(metric, value) + " |";
    if (differ && row.differences.empty()) text += " |";
    if (!row.differences.empty()) {
      const auto& [metric, value] = row.differences.front();
      text += " " + cell_text(metric, value) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string csv_table(const std::vector<ResultRow>& rows) {
  std::string text = "run";
  for (const auto& [label, value] : rows.front().labels) text += "," + csv_field(label);
  text += ",runs";
  for (const auto& [metric, value] : rows.front().values) text += c10::str(",", metric, ",", metric, "_deviation");
  const bool differ = compared(rows);
  for (const auto& [metric, value] : rows.front().values) {
    if (differ) text += c10::str(",", metric, "_difference,", metric, "_difference_deviation");
  }
  const bool partial = any_partial(rows);
  for (const auto& [metric, value] : rows.front().values) {
    if (partial) text += "," + metric + "_runs";
  }
  text += "\n";
  for (const ResultRow& row : rows) {
    text += csv_field(row.name);
    for (const auto& [label, value] : row.labels) text += "," + csv_field(value);
    text += "," + std::to_string(row.runs);
    for (const auto& [metric, value] : row.values)
      text += "," + exact_text(value.mean) + "," + exact_text(value.deviation);
    for (size_t i = 0; differ && row.differences.empty() && i < row.values.size(); ++i) text += ",,";
    for (const auto& [metric, value] : row.differences)
      text += "," + exact_text(value.mean) + "," + exact_text(value.deviation);
    for (const auto& [metric, value] : row.values) {
      if (partial) text += "," + std::to_string(value.counted);
    }
    text += "\n";
  }
  return text;
}

}  // namespace geosft
