// SPDX-License-Identifier: Apache-2.0
// Curves, bars and their numbers: the pictures of the analyses.
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
  std::string title, x, y;  // texts
  bool log_x = false, log_y = false;
};

// One panel: curves with markers over axes.
struct CurvePanel {
  Axes axes;
  std::vector<Curve> curves;
};

// Panels side by side in stem.png and stem.svg. Every curve has a name and as many x as y, at least one; log axes take
// positive numbers alone: else throws c10::Error.
PlotResult plot_curves(const std::vector<CurvePanel>& panels, const std::filesystem::path& stem);

// The same points from the least x to the most.
Curve in_order_of_x(const Curve& curve);

// curve,<x>,<y>: a line a point, numbers in the fewest digits that read back the same.
std::string curves_csv(const std::string& x, const std::string& y, const std::vector<Curve>& curves);

// A number in the fewest digits that read back the same.
std::string exact_number(double value);
// A field of a CSV file: quoted where it must be.
std::string csv_field(const std::string& text);

}  // namespace geosft
