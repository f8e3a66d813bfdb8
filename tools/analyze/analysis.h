// SPDX-License-Identifier: Apache-2.0
// Writes pictures and numbers, fits power laws, and defines options shared by the subcommands of geosft-analyze.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiment/plot_curves.h"
#include "tools/experiment/subcommand.h"

namespace CLI {
class App;
}

namespace geosft {

// Adds an option for an integer, or for several with commas between them, from `low` to `high`. Help shows the present
// value. `former`: its former name, which is still taken (add_former_name).
CLI::Option* add_integer(CLI::App& subcommand, const std::string& option, int64_t& target, const std::string& help,
                         int64_t low, int64_t high, const std::string& former = "");
CLI::Option* add_integers(CLI::App& subcommand, const std::string& option, std::vector<int64_t>& target,
                          const std::string& help, int64_t low, int64_t high);

struct AnalysisOutput {
  std::string out;  // OUT.png, OUT.svg and OUT.csv; "x.pdf", "x.svg" or "x.png": this picture alone, and x.csv

  void add_to(CLI::App& subcommand);
  // Path of the picture, for the functions that draw one.
  std::filesystem::path stem() const { return out; }
  // Path of the numbers.
  std::string csv() const;
  // Returns the output beside this one whose name has `more` at its end, before an ending.
  AnalysisOutput beside(const std::string& more) const;
  void write_csv(const std::string& text) const;
  // Throws std::runtime_error if a picture could not be drawn. Call it after the numbers are written.
  void check_drawn(const PlotResult& result) const;
  // Writes the curves as CSV and the panels as a picture.
  void save(const std::string& x, const std::string& y, const std::vector<Curve>& curves,
            const std::vector<CurvePanel>& panels) const;
};

// Options of analyses that need no trained model.
struct AnalysisBasics {
  uint64_t seed = 0;
  RuntimeOptions runtime = {.device = "cpu"};

  void add_to(CLI::App& subcommand);
  // Sets the number of LibTorch's threads. Throws UsageError for a device other than the CPU, the only one supported.
  void apply_runtime() const;
};

// Fits y = a x^exponent to positive points by least squares of the logarithms, with the standard error of the exponent
// (NaN for two points). Throws c10::Error for fewer than two points or numbers that are not positive.
struct PowerLaw {
  double exponent = 0.0, error = 0.0;
};
PowerLaw power_law(const std::vector<double>& x, const std::vector<double>& y);

// Formats as "1.02 ± 0.01", or "1.02" if the error is NaN.
std::string exponent_text(const PowerLaw& law);

}  // namespace geosft
