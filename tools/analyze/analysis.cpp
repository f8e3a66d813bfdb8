// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/analysis.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "data/atomic_file.h"
#include "tools/bench/scaling.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/output_files.h"

namespace geosft {

CLI::Option* add_integer(CLI::App& subcommand, const std::string& option, int64_t& target, const std::string& help,
                         int64_t low, int64_t high, const std::string& former) {
  auto* const added = subcommand.add_option(option, target, help)->check(CLI::Range(low, high))->capture_default_str();
  if (!former.empty()) add_former_name(subcommand, former, added, target, low, high);
  return added;
}

CLI::Option* add_integers(CLI::App& subcommand, const std::string& option, std::vector<int64_t>& target,
                          const std::string& help, int64_t low, int64_t high) {
  const CLI::Range range(low, high);
  return subcommand.add_option(option, target, help)->delimiter(',')->check(range)->capture_default_str();
}

void AnalysisOutput::add_to(CLI::App& subcommand) {
  as_output_file(
      subcommand
          .add_option("--out", out,
                      "what to write: OUT.png, OUT.svg and OUT.csv; an OUT that ends in .png, .svg or .pdf is "
                      "the picture alone")
          ->required());
}

std::string AnalysisOutput::csv() const {
  const std::filesystem::path file = out;
  return names_picture(file) ? std::filesystem::path(file).replace_extension(".csv").string() : out + ".csv";
}

AnalysisOutput AnalysisOutput::beside(const std::string& more) const {
  std::filesystem::path file = out;
  if (!names_picture(file)) return {out + more};
  const std::string ending = file.extension().string();
  return {file.replace_extension().string() + more + ending};
}

void AnalysisBasics::add_to(CLI::App& subcommand) {
  subcommand.add_option("--seed", seed, "of everything random")->check(CLI::NonNegativeNumber)->capture_default_str();
  runtime.add_to(subcommand);
}

void AnalysisBasics::apply_runtime() const {
  if (!runtime.apply().is_cpu()) throw UsageError("--device: this analysis is computed on the CPU");
}

void AnalysisOutput::write_csv(const std::string& text) const {
  write_file_atomically(csv(), text);
}

void AnalysisOutput::check_drawn(const PlotResult& result) const {
  if (!result) throw std::runtime_error("no picture: " + result.reason + "; the numbers are in " + csv());
}

void AnalysisOutput::save(const std::string& x, const std::string& y, const std::vector<Curve>& curves,
                          const std::vector<CurvePanel>& panels) const {
  write_csv(curves_csv(x, y, curves));
  check_drawn(plot_curves(panels, stem()));
}

PowerLaw power_law(const std::vector<double>& x, const std::vector<double>& y) {
  PowerLaw law{bench::fitted_exponent(x, y), 0.0};
  if (x.size() == 2) return {law.exponent, std::numeric_limits<double>::quiet_NaN()};
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, squares = 0, residuals = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / count;
    mean_y += std::log(y[i]) / count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    squares += dx * dx;
    residuals += std::pow(std::log(y[i]) - mean_y - law.exponent * dx, 2);
  }
  law.error = std::sqrt(residuals / (count - 2) / squares);
  return law;
}

std::string exponent_text(const PowerLaw& law) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << law.exponent;
  if (!std::isnan(law.error)) text << " ± " << law.error;
  return text.str();
}

}  // namespace geosft
