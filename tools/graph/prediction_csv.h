// SPDX-License-Identifier: Apache-2.0
// The table that predict writes by --csv: a row for each graph or node, and for each input that is broken.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace geosft {

struct PredictedRow {
  std::string file, item, name;  // `item`: its number in the file, from 0
  std::string line = {};         // of a SMILES in its file
  std::string smiles = {};
  std::vector<std::pair<std::string, std::string>> others = {};  // further columns of the input, by name
  std::vector<std::string> prediction = {};                      // a field for each column of predictions, or none
  std::string error = {};
};

// Returns a CSV table with the columns file, `item`, name, those of predictions, and error. After the name follow line
// and smiles, each if a row has one, then every further column of the inputs; "input_" is put before names that are
// taken.
std::string prediction_csv(const std::string& item, const std::vector<std::string>& prediction_columns,
                           const std::vector<PredictedRow>& rows);

}  // namespace geosft
