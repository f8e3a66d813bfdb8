// SPDX-License-Identifier: Apache-2.0
// geosft-analyze on small sizes.
#pragma once

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/places.h"
#include "tests/tools/classify/classify_tool.h"

namespace geosft::test {

// Of a line of a CSV file without quotes.
inline Words fields_of(const std::string& line) {
  std::istringstream in(line);
  Words fields;
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

// The power to which y grows with x, as it is printed: the slope of the least-squares line through the logarithms, by
// the normal equations, and its standard error where there are more than two points.
inline std::string slow_power(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double u = std::log(x[i]), v = std::log(y[i]);
    sum_x += u;
    sum_y += v;
    sum_xx += u * u;
    sum_xy += u * v;
  }
  const double slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
  const double offset = (sum_y - slope * sum_x) / n;
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << slope;
  if (x.size() == 2) return text.str();
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) squares += std::pow(std::log(y[i]) - offset - slope * std::log(x[i]), 2);
  text << " ± " << std::sqrt(squares / (n - 2) / (sum_xx - sum_x * sum_x / n));
  return text.str();
}

// A folder with the tiny dataset; analyses write to "out".
class AnalysisShop : public ClassifyShop {
 public:
  std::string out() const { return (*this / "out").string(); }
  // Analyses that train begin with the paper's sizes, and have no --preset.
  ProcessResult analyze(Words words) const {
    const auto preset = std::find(words.begin(), words.end(), "--preset");
    if (preset != words.end()) words.erase(preset, preset + 2);
    return run_process(program_path("geosft-analyze"), words + Words{"--out", out()}, process());
  }
  // Runs well and leaves a CSV file, and pictures where gnuplot is there. What it printed.
  std::string analyze_well(const Words& words) const {
    const ProcessResult result = analyze(words);
    INFO(result.err);
    REQUIRE(result.exit == (has_gnuplot() ? 0 : 1));
    if (has_gnuplot()) {
      for (const char* ending : {".png", ".svg"}) CHECK(std::filesystem::file_size(out() + ending) > 1000);
    }
    return result.out;
  }
  Words csv() const { return lines_of(read_text(out() + ".csv")); }

  // The last numbers of a CSV file of curves, by curve: the y of their points in turn.
  std::map<std::string, std::vector<double>> curves() const {
    std::map<std::string, std::vector<double>> found;
    const Words lines = csv();
    for (size_t i = 1; i < lines.size(); ++i) {
      const size_t y = lines[i].rfind(','), x = lines[i].rfind(',', y - 1);
      found[lines[i].substr(0, x)].push_back(std::stod(lines[i].substr(y + 1)));
    }
    return found;
  }

  // Of analyses that train, but for the epochs.
  Words tiny() const { return Words{"--data", data().string()} + without(small_training(), "--epochs"); }
};

}  // namespace geosft::test
