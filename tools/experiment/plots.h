// SPDX-License-Identifier: Apache-2.0
// Draws the pictures of a run. Each function writes stem.png and stem.svg (or the one file that `stem` names, see draw)
// or returns why not (see PlotResult); wrong arguments throw c10::Error.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/experiment/colour_map.h"
#include "tools/experiment/gnuplot.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft {

// Plots loss and score over the steps, one curve per split, from the file of MetricsWriter. Throws DataError if it is
// invalid; draws nothing if it has no rows.
PlotResult plot_learning_curves(const std::filesystem::path& metrics_csv, const std::filesystem::path& stem,
                                const ScoreStyle& style = {});

// counts int64 [C, C], row: true class, column: predicted class; `names`: C class names. Colours show shares of a row,
// numbers show counts.
PlotResult plot_confusion_matrix(const at::Tensor& counts, const std::vector<std::string>& names,
                                 const std::filesystem::path& stem, const std::string& title);

// Draws points [n, 3] with y up, coloured by values [n] (both finite, n > 0), from the front and from the back, in
// orthographic projection with equal axes.
PlotResult plot_cloud(const at::Tensor& points, const at::Tensor& values, const std::filesystem::path& stem,
                      const std::string& title, const std::string& value_label);

// Returns the same in the colours of classes: colours [n, 3] in [0, 1], and a key of names and colours, at least one.
PlotResult plot_classed_cloud(const at::Tensor& points, const at::Tensor& colours,
                              const std::vector<std::pair<std::string, Colour>>& key, const std::filesystem::path& stem,
                              const std::string& title);

// One panel of a row of clouds. The view is rotated about the vertical axis, then elevated, in degrees.
struct CloudPanel {
  at::Tensor points, values;  // as for plot_cloud
  std::string caption;        // below the panel
  double azimuth = 35.0, elevation = 20.0;
};
// Draws panels side by side with one colour scale; each cloud fills its panel.
PlotResult plot_cloud_panels(const std::vector<CloudPanel>& panels, const std::filesystem::path& stem,
                             const std::string& title, const std::string& value_label);

}  // namespace geosft
