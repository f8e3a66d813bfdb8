// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/bench/almost_linear.h"
#include "tools/bench/bench_options.h"
#include "tools/bench/commands.h"
#include "tools/bench/scaling.h"
#include "tools/bench/table.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/plot_curves.h"
#include "tools/experiment/progress.h"

namespace geosft::bench {
namespace {

using Points = std::vector<AlmostLinearPoint>;

std::vector<double> column(const Points& points, const std::function<double(const AlmostLinearPoint&)>& value) {
  std::vector<double> numbers;
  numbers.reserve(points.size());
  for (const AlmostLinearPoint& point : points) numbers.push_back(value(point));
  return numbers;
}

std::vector<double> token_counts(const Points& points) {
  return column(points, [](const AlmostLinearPoint& point) { return static_cast<double>(point.tokens); });
}

std::vector<double> seconds(const Points& points) {
  return column(points, [](const AlmostLinearPoint& point) { return point.polynomial.minimum; });
}

Points with_exact(const Points& points) {
  Points kept;
  std::copy_if(points.begin(), points.end(), std::back_inserter(kept),
               [](const AlmostLinearPoint& point) { return point.exact.has_value(); });
  return kept;
}

std::string as_table(const Points& points) {
  std::ostringstream text;
  text
      << "| n | d | degree | monomials | 1/n | bound | rows read | out | dX | dW_Q | dW_K | dW_V | forward + backward |"
         " exact attention |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const AlmostLinearPoint& p : points) {
    text << "| " << p.tokens << " | " << p.channels << " | " << p.degree << " | " << p.monomials << std::scientific
         << std::setprecision(0) << " | " << 1 / static_cast<double>(p.tokens) << " | " << p.bound << " | " << p.rows;
    for (const double error : {p.errors.out, p.errors.x, p.errors.w_q, p.errors.w_k, p.errors.w_v}) {
      text << " | " << error;
    }
    text << " | " << duration(p.polynomial.minimum) << " | " << (p.exact ? duration(p.exact->minimum) : "") << " |\n";
  }
  if (points.size() < 2) return text.str();
  text << std::fixed << std::setprecision(2) << "time grows with exponent "
       << fitted_exponent(token_counts(points), seconds(points)) << " of n";
  const Points exact = with_exact(points);
  if (exact.size() > 1) {
    text << ", that of exact attention with "
         << fitted_exponent(token_counts(exact), column(exact, [](const auto& p) { return p.exact->minimum; }));
  }
  text << "\n";
  return text.str();
}

nlohmann::json as_json(const Points& points) {
  nlohmann::json rows = nlohmann::json::array();
  for (const AlmostLinearPoint& p : points) {
    rows.push_back(
        {{"tokens", p.tokens},
         {"channels", p.channels},
         {"degree", p.degree},
         {"monomials", p.monomials},
         {"bound", p.bound},
         {"rows_read", p.rows},
         {"out", p.errors.out},
         {"gradients", {{"x", p.errors.x}, {"w_q", p.errors.w_q}, {"w_k", p.errors.w_k}, {"w_v", p.errors.w_v}}},
         {"seconds", p.polynomial.minimum}});
    if (p.exact) rows.back()["exact_seconds"] = p.exact->minimum;
  }
  nlohmann::json all{{"points", rows}};
  if (points.size() > 1) all["time_exponent"] = fitted_exponent(token_counts(points), seconds(points));
  return all;
}

// Returns the curve, with the fitted exponent in its name where there are several points.
Curve named_by_exponent(const std::string& name, const std::vector<double>& n, const std::vector<double>& y) {
  std::ostringstream text;
  text << name;
  if (n.size() > 1) text << ": exponent " << std::fixed << std::setprecision(2) << fitted_exponent(n, y);
  return {text.str(), n, y};
}

void draw(const Points& points, const std::string& stem) {
  const std::vector<double> n = token_counts(points);
  CurvePanel time{{"forward and backward, one head, d grows as log n", "tokens", "seconds", true, true},
                  {named_by_exponent("polynomial attention", n, seconds(points))}};
  const Points exact = with_exact(points);
  if (!exact.empty()) {
    time.curves.push_back(
        named_by_exponent("exact attention", token_counts(exact),
                          column(exact, [](const AlmostLinearPoint& p) { return p.exact->minimum; })));
  }
  CurvePanel errors{{"relative errors", "tokens", "error", true, true}, {}};
  const auto add = [&](const char* name, double AlmostLinearErrors::*member) {
    errors.curves.push_back({name, n, column(points, [=](const AlmostLinearPoint& p) { return p.errors.*member; })});
  };
  errors.curves.push_back({"1 / n, the tolerance", n, column(points, [](const AlmostLinearPoint& p) {
                             return 1 / static_cast<double>(p.tokens);
                           })});
  add("result", &AlmostLinearErrors::out);
  add("dX", &AlmostLinearErrors::x);
  add("dW_Q", &AlmostLinearErrors::w_q);
  add("dW_K", &AlmostLinearErrors::w_k);
  add("dW_V", &AlmostLinearErrors::w_v);
  const PlotResult drawn = plot_curves({time, errors}, stem);
  if (!drawn) throw std::runtime_error(drawn.reason);
}

struct AlmostLinearCommand {
  MachineOptions machine;
  AlmostLinearOptions options;
  TimingOptions timing{.repeats = 3, .seconds = 0.2};
  std::string out;
  bool json = false;

  int execute() const {
    if (options.max_tokens < options.min_tokens) {
      throw UsageError("--max-tokens " + std::to_string(options.max_tokens) + " is less than --min-tokens " +
                       std::to_string(options.min_tokens));
    }
    machine.apply();
    install_interrupt_handler();
    ProgressBar progress("tokens", options.max_tokens);
    const Points points = measure_almost_linear(options, timing, [&](int64_t n) {
      throw_if_interrupted("in the middle of the table");
      progress.update(n);
    });
    progress.finish();
    std::cout << (json ? as_json(points).dump() + "\n" : as_table(points));
    if (!out.empty()) draw(points, out);
    return 0;
  }
};

}  // namespace

Command add_almost_linear_command(CLI::App& subcommand) {
  auto command = std::make_shared<AlmostLinearCommand>();
  AlmostLinearOptions& options = command->options;
  subcommand.add_option("--channels-per-log", options.channels_per_log, "d = this times log2(n), rounded")
      ->check(CLI::Range(1e-3, 8.0))
      ->capture_default_str();
  subcommand.add_option("--score", options.largest_score, "bound on |scale q . k|")
      ->check(CLI::Range(1e-6, 100.0))
      ->capture_default_str();
  const CLI::Range counts(int64_t{2}, int64_t{1} << 24);
  subcommand.add_option("--min-tokens", options.min_tokens, "first n; it doubles from row to row")
      ->check(counts)
      ->capture_default_str();
  subcommand.add_option("--max-tokens", options.max_tokens, "largest n")->check(counts)->capture_default_str();
  subcommand
      .add_option("--exact-tokens", options.exact_tokens,
                  "largest n for which the loss reads every row, and exact attention is timed")
      ->check(CLI::Range(0, 1 << 16))
      ->capture_default_str();
  subcommand.add_option("--read-rows", options.read_rows, "random rows that the loss reads beyond that")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  subcommand.add_option("--repeats", command->timing.repeats, "minimum number of timed calls")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  subcommand.add_option("--seed", options.seed, "of tokens and weights")->capture_default_str();
  subcommand.add_option("--out", command->out, "draw time and errors into OUT.png and OUT.svg");
  subcommand.add_flag("--json", command->json, "print one JSON object");
  command->machine.add_to(subcommand);
  return [command] { return command->execute(); };
}

}  // namespace geosft::bench
