// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/table.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

namespace geosft::bench {
namespace {

constexpr const char* colours[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#777777"};

// Returns lines "elements/byte elements/s" of the measurements with a bound, by implementation.
std::map<std::string, std::string> points_by_implementation(const std::vector<Measurement>& measurements) {
  std::map<std::string, std::string> points;
  for (const Measurement& one : measurements) {
    if (!one.bound) continue;
    std::ostringstream line;
    line << one.work->elements() / one.work->bytes << ' ' << one.work->elements() / one.timing.minimum / 1e9 << '\n';
    points[one.implementation] += line.str();
  }
  return points;
}

std::string roof(double rate, double bandwidth, const char* title, const char* dash) {
  std::ostringstream text;
  text << "min2(" << rate / 1e9 << ", " << bandwidth / 1e9 << " * x) with lines lw 2 lc rgb '#303030' dt " << dash
       << " title " << gnuplot_string(title);
  return text.str();
}

}  // namespace

PlotResult draw_roofline(const Results& results, const std::filesystem::path& stem) {
  const auto points = points_by_implementation(results.measurements);
  if (points.empty()) return {false, "no measurement with a bound was made"};
  Picture picture{.width = 1000, .height = 640};
  picture.script =
      "set border 3 lc rgb '#606060'\nset tics out nomirror textcolor rgb '#303030'\nset grid lc rgb '#e4e4e4' lt 1\n"
      "set logscale xy\nset key outside right top\nset samples 400\nmin2(a, b) = a < b ? a : b\nset xrange "
      "[0.25:1024]\n"
      "set xlabel 'elements a byte of inputs and results'\nset ylabel 'G elements a second'\nset title " +
      gnuplot_string(results.machine.processor + ", " + results.machine.simd_target + ", " +
                     std::to_string(results.machine.threads) +
                     (results.machine.threads == 1 ? " thread" : " threads")) +
      "\nplot " + roof(results.machine.rates.multiply_add, results.machine.bandwidth, "multiply-add tiles", "1") +
      ", " + roof(results.machine.rates.max_add, results.machine.bandwidth, "max+add tiles", "2");
  size_t index = 0;
  for (const auto& [implementation, lines] : points) {
    const std::string name = "points" + std::to_string(index);
    picture.data[name] = lines;
    picture.script += ", '" + name + "' using 1:2 with points pt " +
                      (implementation == "geosft" ? "7 ps 1.4" : "6 ps 1.1") + " lc rgb '" +
                      colours[index++ % std::size(colours)] + "' title " + gnuplot_string(implementation);
  }
  picture.script += "\n";
  return draw(picture, stem);
}

}  // namespace geosft::bench
