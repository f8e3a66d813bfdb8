// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/plot_curves.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <sstream>

namespace geosft {
namespace {

constexpr int curve_panel_width = 560, curve_panel_height = 420;
constexpr int line_of_key = 20;          // pixels per curve name below the panel
constexpr size_t names_beside_axes = 6;  // that fit in the panel height
constexpr size_t max_marked = 40;        // with more points, markers would hide the line

// Paul Tol's bright colour scheme, which colour-blind readers can tell apart. Further curves are dashed.
constexpr std::array<const char*, 7> curve_colours = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                                      "#66ccee", "#aa3377", "#888888"};

constexpr const char* panel_frame = R"(
set border 3 lc rgb '#606060'
set tics out nomirror textcolor rgb '#303030'
set grid lc rgb '#e4e4e4' lt 1
set key outside bottom center horizontal textcolor rgb '#303030'
)";

// The key is below the panel, with at most one line per curve.
int height_for(const std::vector<CurvePanel>& panels) {
  size_t most = names_beside_axes;
  for (const CurvePanel& panel : panels) most = std::max(most, panel.curves.size());
  return curve_panel_height + line_of_key * static_cast<int>(most - names_beside_axes);
}

void check_curve(const Curve& curve, const Axes& axes) {
  TORCH_CHECK(!curve.name.empty() && !curve.x.empty() && curve.x.size() == curve.y.size(), "curve '", curve.name,
              "': expected a name and as many y as x, found ", curve.x.size(), " and ", curve.y.size());
  const auto positive = [](double value) { return value > 0; };
  TORCH_CHECK(!axes.log_x || std::all_of(curve.x.begin(), curve.x.end(), positive), "curve '", curve.name,
              "': a log axis takes positive x");
  TORCH_CHECK(!axes.log_y || std::all_of(curve.y.begin(), curve.y.end(), positive), "curve '", curve.name,
              "': a log axis takes positive y");
}

std::string curve_lines(const Curve& curve) {
  std::string lines;
  for (size_t i = 0; i < curve.x.size(); ++i) lines += exact_number(curve.x[i]) + " " + exact_number(curve.y[i]) + "\n";
  return lines;
}

std::string plot_panel(const CurvePanel& panel, size_t index, Picture& picture) {
  std::ostringstream script;
  script << "set title " << gnuplot_string(panel.axes.title) << "\nset xlabel " << gnuplot_string(panel.axes.x)
         << " offset 0,0.5"
         << "\nset ylabel " << gnuplot_string(panel.axes.y) << "\n"
         << (panel.axes.log_x ? "set logscale x\n" : "unset logscale x\n")
         << (panel.axes.log_y ? "set logscale y\n" : "unset logscale y\n");
  for (size_t i = 0; i < panel.curves.size(); ++i) {
    const std::string name = "curve" + std::to_string(index) + "_" + std::to_string(i);
    picture.data[name] = curve_lines(panel.curves[i]);
    script << (i == 0 ? "plot '" : ", '") << name << "' using 1:2 with "
           << (panel.curves[i].x.size() <= max_marked ? "linespoints pt 7 ps 0.5" : "lines") << " lw 1.6 dt "
           << 1 + i / curve_colours.size() << " lc rgb '" << curve_colours[i % curve_colours.size()] << "' title "
           << gnuplot_string(panel.curves[i].name);
  }
  return script.str() + "\n";
}

}  // namespace

PlotResult plot_curves(const std::vector<CurvePanel>& panels, const std::filesystem::path& stem) {
  TORCH_CHECK(!panels.empty(), "panels: expected at least one");
  Picture picture{.width = curve_panel_width * static_cast<int>(panels.size()), .height = height_for(panels)};
  picture.script = std::string(panel_frame) + "set multiplot layout 1," + std::to_string(panels.size()) + "\n";
  for (size_t i = 0; i < panels.size(); ++i) {
    TORCH_CHECK(!panels[i].curves.empty(), "panel ", i, ": expected at least one curve");
    for (const Curve& curve : panels[i].curves) check_curve(curve, panels[i].axes);
    picture.script += plot_panel(panels[i], i, picture);
  }
  picture.script += "unset multiplot\n";
  return draw(picture, stem);
}

Curve in_order_of_x(const Curve& curve) {
  std::vector<size_t> order(curve.x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return curve.x[a] < curve.x[b]; });
  Curve sorted{curve.name, {}, {}};
  for (const size_t i : order) {
    sorted.x.push_back(curve.x[i]);
    sorted.y.push_back(curve.y[i]);
  }
  return sorted;
}

std::string exact_number(double value) {
  std::array<char, 64> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string curves_csv(const std::string& x, const std::string& y, const std::vector<Curve>& curves) {
  std::string text = "curve," + x + "," + y + "\n";
  for (const Curve& curve : curves) {
    for (size_t i = 0; i < curve.x.size(); ++i) {
      text += csv_field(curve.name) + "," + exact_number(curve.x[i]) + "," + exact_number(curve.y[i]) + "\n";
    }
  }
  return text;
}

}  // namespace geosft
