// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/plot_curves.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

#include "tools/experiment/shortest_text.h"

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
  size_t maximum = names_beside_axes;
  for (const CurvePanel& panel : panels) maximum = std::max(maximum, panel.curves.size());
  return curve_panel_height + line_of_key * static_cast<int>(maximum - names_beside_axes);
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
  for (size_t i = 0; i < curve.x.size(); ++i)
    lines += shortest_text(curve.x[i]) + " " + shortest_text(curve.y[i]) + "\n";
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

// Measures of a grid of panels, in pixels of the SVG.
constexpr double grid_left = 90, grid_top = 40, grid_bottom = 60, grid_panel_width = 260, grid_panel_height = 230;
constexpr double grid_names = 215, grid_gap = 34;  // room for names beside a panel, and between rows
constexpr double name_height = 13;

// The range of an axis with a margin, and where a value is in it, from 0 to 1.
struct AxisRange {
  bool log = false;
  double low = 0, high = 1;

  AxisRange(const std::vector<double>& values, bool is_log, double margin) : log(is_log) {
    const auto [minimum, maximum] = std::minmax_element(values.begin(), values.end());
    const double extent = place(*maximum) - place(*minimum), room = extent > 0 ? margin * extent : 0.5;
    low = value(place(*minimum) - room);
    high = value(place(*maximum) + room);
  }
  double share(double of) const { return (place(of) - place(low)) / (place(high) - place(low)); }
  std::string text() const { return "[" + shortest_text(low) + ":" + shortest_text(high) + "]"; }

 private:
  double place(double of) const { return log ? std::log10(of) : of; }
  double value(double at) const { return log ? std::pow(10.0, at) : at; }
};

std::vector<double> all_values(const std::vector<CurvePanel>& panels, size_t first, size_t count,
                               std::vector<double> Curve::*which) {
  std::vector<double> values;
  for (size_t i = first; i < first + count; ++i) {
    for (const Curve& curve : panels[i].curves) {
      values.insert(values.end(), (curve.*which).begin(), (curve.*which).end());
    }
  }
  return values;
}

const char* colour_of_curve(size_t index) {
  return curve_colours[index % curve_colours.size()];
}

// Writes the names of the curves beside the panel, at the heights of their last points.
std::string end_names(const CurvePanel& panel, const AxisRange& range) {
  std::vector<size_t> order(panel.curves.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto height = [&](size_t i) { return range.share(panel.curves[i].y.back()); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return height(a) < height(b); });
  std::vector<double> heights;
  for (const size_t i : order) heights.push_back(height(i));
  heights = moved_apart(heights, name_height / grid_panel_height);
  std::ostringstream script;
  for (size_t i = 0; i < order.size(); ++i) {
    script << "set label " << i + 1 << " " << gnuplot_string(panel.curves[order[i]].name) << " at graph 1.03, graph "
           << heights[i] << " left font ',9' textcolor rgb '" << colour_of_curve(order[i]) << "'\n";
  }
  return script.str();
}

std::string plot_grid_panel(const CurvePanel& panel, size_t index, const AxisRange& x, const AxisRange& y,
                            Picture& picture) {
  std::ostringstream script;
  script << "unset label\nset xrange " << x.text() << "\nset yrange " << y.text() << "\n"
         << (panel.axes.log_x ? "set logscale x\n" : "unset logscale x\n")
         << (panel.axes.log_y ? "set logscale y\n" : "unset logscale y\n") << end_names(panel, y);
  for (size_t i = 0; i < panel.curves.size(); ++i) {
    const std::string name = "curve" + std::to_string(index) + "_" + std::to_string(i);
    picture.data[name] = curve_lines(panel.curves[i]);
    script << (i == 0 ? "plot '" : ", '") << name << "' using 1:2 with "
           << (panel.curves[i].x.size() <= max_marked ? "linespoints pt 7 ps 0.5" : "lines") << " lw 1.6 lc rgb '"
           << colour_of_curve(i) << "' notitle";
  }
  return script.str() + "\n";
}

}  // namespace

std::vector<double> moved_apart(const std::vector<double>& places, double gap) {
  // Isotonic regression of the places less the gaps before them: pools neighbours in the wrong order to their mean.
  struct Pool {
    double sum, count;
  };
  std::vector<Pool> pools;
  for (size_t i = 0; i < places.size(); ++i) {
    pools.push_back({places[i] - static_cast<double>(i) * gap, 1});
    while (pools.size() > 1) {
      const Pool last = pools.back(), before = pools[pools.size() - 2];
      if (before.sum / before.count <= last.sum / last.count) break;
      pools.pop_back();
      pools.back() = {before.sum + last.sum, before.count + last.count};
    }
  }
  std::vector<double> moved;
  for (const Pool& pool : pools) {
    for (double i = 0; i < pool.count; ++i)
      moved.push_back(pool.sum / pool.count + static_cast<double>(moved.size()) * gap);
  }
  return moved;
}

PlotResult plot_curve_grid(const std::vector<CurvePanel>& panels, size_t columns, const std::filesystem::path& stem) {
  TORCH_CHECK(!panels.empty() && columns > 0 && panels.size() % columns == 0, "panels: expected a multiple of ",
              columns, ", found ", panels.size());
  const size_t rows = panels.size() / columns;
  const double wide = grid_left + static_cast<double>(columns) * (grid_panel_width + grid_names),
               tall = grid_top + static_cast<double>(rows) * (grid_panel_height + grid_gap) + grid_bottom - grid_gap;
  Picture picture{.width = static_cast<int>(wide), .height = static_cast<int>(tall)};
  std::ostringstream script;
  script << panel_frame << "unset key\nset multiplot\n";
  for (size_t i = 0; i < panels.size(); ++i) {
    const CurvePanel& panel = panels[i];
    const size_t first = i / columns * columns;
    TORCH_CHECK(!panel.curves.empty(), "panel ", i, ": expected at least one curve");
    TORCH_CHECK(panel.axes.log_y == panels[first].axes.log_y, "panel ", i, ": expected log_y as in its row");
    for (const Curve& curve : panel.curves) check_curve(curve, panel.axes);
  }
  for (size_t i = 0; i < panels.size(); ++i) {
    const CurvePanel& panel = panels[i];
    const size_t row = i / columns, column = i % columns;
    const AxisRange x(all_values(panels, i, 1, &Curve::x), panel.axes.log_x, 0.08);
    const AxisRange y(all_values(panels, row * columns, columns, &Curve::y), panel.axes.log_y, 0.08);
    const double left = grid_left + static_cast<double>(column) * (grid_panel_width + grid_names),
                 top = grid_top + static_cast<double>(row) * (grid_panel_height + grid_gap);
    script << "set lmargin at screen " << left / wide << "\nset rmargin at screen " << (left + grid_panel_width) / wide
           << "\nset tmargin at screen " << 1 - top / tall << "\nset bmargin at screen "
           << 1 - (top + grid_panel_height) / tall << "\nset title " << gnuplot_string(row == 0 ? panel.axes.title : "")
           << "\nset xlabel " << gnuplot_string(row + 1 == rows ? panel.axes.x : "") << " offset 0,0.5\nset ylabel "
           << gnuplot_string(column == 0 ? panel.axes.y : "")
           // The axes of a row are equal: numbers stand beside the first.
           << "\nset format y "
           << (column > 0         ? "''"
               : panel.axes.log_y ? "'%.0e'"
                                  : "'%g'")
           << "\n"
           << plot_grid_panel(panel, i, x, y, picture);
  }
  picture.script = script.str() + "unset multiplot\n";
  return draw(picture, stem);
}

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

Curve best_so_far(const Curve& curve, bool lower_is_better) {
  Curve best = curve;
  for (size_t i = 1; i < best.y.size(); ++i) {
    best.y[i] = lower_is_better ? std::min(best.y[i], best.y[i - 1]) : std::max(best.y[i], best.y[i - 1]);
  }
  return best;
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
      text += csv_field(curve.name) + "," + shortest_text(curve.x[i]) + "," + shortest_text(curve.y[i]) + "\n";
    }
  }
  return text;
}

}  // namespace geosft
