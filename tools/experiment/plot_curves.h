// SPDX-License-Identifier: Apache-2.0
// Plots curves and writes them as CSV.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiment/gnuplot.h"

namespace geosft {

// Points (x[i], y[i]) of one curve.
struct Curve {
  std::string name;
  std::vector<double> x, y;
};

struct Axes {
  std::string title, x, y;  // labels
  bool log_x = false, log_y = false;
};

// One panel: curves with markers over axes.
struct CurvePanel {
  Axes axes;
  std::vector<Curve> curves;
};

// Draws panels side by side into stem.png and stem.svg. Throws c10::Error unless every curve has a name and as many x
// as y, at least one, and values on log axes are positive.
PlotResult plot_curves(const std::vector<CurvePanel>& panels, const std::filesystem::path& stem);

// Draws panels in a grid, row by row, for many curves: `columns` panels a row, which share the range of y and its
// label. The name of each curve is written at its last point, so that there is no key; names that would cover each
// other are moved apart. A curve of the same place in its panel has the same colour. Throws c10::Error as plot_curves
// does, unless `columns` divides the number of panels, and for rows whose panels differ in log_y.
PlotResult plot_curve_grid(const std::vector<CurvePanel>& panels, size_t columns, const std::filesystem::path& stem);

// Moves ascending places apart until neighbours differ by `gap`, by the least squares of the moves.
std::vector<double> moved_apart(const std::vector<double>& places, double gap);

// Returns the best value up to each point: the cumulative maximum, or the minimum if lower is better.
Curve best_so_far(const Curve& curve, bool lower_is_better);

// Returns the same points sorted by x.
Curve in_order_of_x(const Curve& curve);

// Returns CSV with the header curve,<x>,<y> and one line per point; numbers have the fewest digits that round-trip.
std::string curves_csv(const std::string& x, const std::string& y, const std::vector<Curve>& curves);

// Formats a CSV field, quoted if necessary.
std::string csv_field(const std::string& text);

}  // namespace geosft
