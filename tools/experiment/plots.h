// SPDX-License-Identifier: Apache-2.0
// The pictures of a run. Each leaves stem.png and stem.svg, or says why not (see PlotResult); wrong arguments throw
// c10::Error.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiment/gnuplot.h"
#include "tools/experiment/metrics_csv.h"

namespace geosft {

// Loss and score over the steps, a curve a split, from the file of MetricsWriter. Throws DataError when that is broken;
// without a row there is nothing to draw.
PlotResult plot_learning_curves(const std::filesystem::path& metrics_csv, const std::filesystem::path& stem,
                                const ScoreStyle& style = {});

// counts int64 [C, C], row: true class, column: predicted class; `names`: C class names. Colours are shares of a row,
// numbers are counts.
PlotResult plot_confusion_matrix(const at::Tensor& counts, const std::vector<std::string>& names,
                                 const std::filesystem::path& stem, const std::string& title);

// points [n, 3] with y up and values [n], both finite, n > 0: the cloud from the front and from behind, coloured by
// value, axes to one scale, without perspective.
PlotResult plot_cloud(const at::Tensor& points, const at::Tensor& values, const std::filesystem::path& stem,
                      const std::string& title, const std::string& value_label);

// One panel of a row of clouds, seen from there: turned about the vertical axis, then lifted, in degrees.
struct CloudPanel {
  at::Tensor points, values;  // as above
  std::string caption;        // below it
  double azimuth = 35.0, elevation = 20.0;
};
// Panels side by side, coloured on one scale, each cloud filling its own.
PlotResult plot_cloud_panels(const std::vector<CloudPanel>& panels, const std::filesystem::path& stem,
                             const std::string& title, const std::string& value_label);

}  // namespace geosft
