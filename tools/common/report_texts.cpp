// SPDX-License-Identifier: Apache-2.0
#include "tools/common/report_texts.h"

#include <iomanip>
#include <iostream>
#include <sstream>

#include "data/formats/shape_file.h"
#include "data/read_file.h"

namespace geosft {

std::string percent(double share) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << 100 * share << " %";
  return out.str();
}

void warn_unless_drawn(const PlotResult& result) {
  if (!result.drawn) std::cerr << "no picture: " << result.reason << '\n';
}

void draw_curves(const RunFolder& folder, const ScoreStyle& style) {
  warn_unless_drawn(plot_learning_curves(folder.metrics(), folder.learning_curves(), style));
}

std::string shape_file_text(const std::filesystem::path& file) {
  const FileShape shape = parse_shape(read_file(file), file.string());
  const at::Tensor& points = shape.mesh.vertices;
  const at::Tensor low = std::get<0>(points.min(0)), high = std::get<0>(points.max(0));
  std::ostringstream out;
  out << file.string() << ": ";
  if (shape.is_mesh()) {
    out << "a mesh of " << points.size(0) << " vertices and " << shape.mesh.faces.size(0) << " triangles\n";
  } else {
    out << "a cloud of " << points.size(0) << " points "
        << (shape.normals.defined() ? "with normals\n" : "without normals\n");
  }
  for (int64_t axis = 0; axis < 3; ++axis) {
    out << "xyz"[axis] << " from " << low[axis].item<double>() << " to " << high[axis].item<double>() << '\n';
  }
  return out.str();
}

}  // namespace geosft
