// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/prediction_csv.h"

#include <algorithm>
#include <set>

#include "tools/experiment/input_files.h"

namespace geosft {
namespace {

// Returns the names of the further columns, in the order in which they are met.
std::vector<std::string> names_of_others(const std::vector<PredictedRow>& rows) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const PredictedRow& row : rows) {
    for (const auto& [name, value] : row.others) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

std::string field_named(const PredictedRow& row, const std::string& name) {
  const auto found =
      std::find_if(row.others.begin(), row.others.end(), [&](const auto& other) { return other.first == name; });
  return found == row.others.end() ? "" : found->second;
}

void append(std::vector<std::string>& fields, const std::vector<std::string>& more) {
  fields.insert(fields.end(), more.begin(), more.end());
}

}  // namespace

std::string prediction_csv(const std::string& item, const std::vector<std::string>& prediction_columns,
                           const std::vector<PredictedRow>& rows) {
  const auto any_has = [&](std::string PredictedRow::*member) {
    return std::any_of(rows.begin(), rows.end(), [&](const PredictedRow& row) { return !(row.*member).empty(); });
  };
  const bool lines = any_has(&PredictedRow::line), molecules = any_has(&PredictedRow::smiles);
  const std::vector<std::string> others = names_of_others(rows);
  std::vector<std::string> head{"file", item, "name"};
  if (lines) head.emplace_back("line");
  if (molecules) head.emplace_back("smiles");
  std::set<std::string> taken(head.begin(), head.end());
  taken.insert(prediction_columns.begin(), prediction_columns.end());
  taken.insert("error");
  for (std::string name : others) {
    while (!taken.insert(name).second) name.insert(0, "input_");
    head.push_back(name);
  }
  append(head, prediction_columns);
  head.emplace_back("error");
  std::string text = csv_line(head);
  for (const PredictedRow& row : rows) {
    std::vector<std::string> fields{row.file, row.item, row.name};
    if (lines) fields.push_back(row.line);
    if (molecules) fields.push_back(row.smiles);
    for (const std::string& name : others) fields.push_back(field_named(row, name));
    std::vector<std::string> prediction = row.prediction;
    prediction.resize(prediction_columns.size());
    append(fields, prediction);
    fields.push_back(row.error);
    text += csv_line(fields);
  }
  return text;
}

}  // namespace geosft
