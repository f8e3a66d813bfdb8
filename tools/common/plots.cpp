// SPDX-License-Identifier: Apache-2.0
#include "tools/common/plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

#include "tools/common/metrics_csv.h"

namespace geosft {
namespace {

constexpr const char* frame = R"(
set border 3 lc rgb '#606060'
set tics out nomirror textcolor rgb '#303030'
set grid lc rgb '#e4e4e4' lt 1
set key textcolor rgb '#303030'
)";
constexpr const char* viridis =
    "set palette defined (0 '#440154', 1 '#482878', 2 '#3e4989', 3 '#31688e', 4 '#26828e', 5 '#1f9e89', 6 '#35b779', "
    "7 '#6ece58', 8 '#b5de2b', 9 '#fde725')\n";
constexpr const char* blues =
    "set palette defined (0 '#f7f9fc', 1 '#d3e2f2', 2 '#9cc3e2', 3 '#5a9bcf', 4 '#2a6fb0', 5 '#0b3c78')\n";

std::string percent(double share) {
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << 100.0 * share << " %";
  return text.str();
}

std::string curve_data(const std::vector<MetricsRow>& rows, const std::string& split) {
  std::ostringstream data;
  for (const MetricsRow& row : rows) {
    if (row.split == split) data << row.step << ' ' << row.loss << ' ' << 100.0 * row.accuracy << '\n';
  }
  return data.str();
}

// plot commands of the curves that have data; column 2: loss, 3: accuracy.
std::string curve_commands(const std::map<std::string, std::string>& data, int column) {
  std::string commands;
  for (const auto& [name, colour] : {std::pair{"train", "#4477aa"}, {"validation", "#ee6677"}}) {
    const std::string& points = data.at(name);
    if (points.empty()) continue;
    const bool few = std::count(points.begin(), points.end(), '\n') <= 60;
    commands += std::string(commands.empty() ? "plot " : ", ") + "'" + name + "' using 1:" + std::to_string(column) +
                " with " + (few ? "linespoints pt 7 ps 0.4" : "lines") + " lw 1.6 lc rgb '" + colour + "' title '" +
                (std::string(name) == "train" ? "training" : "validation") + "'";
  }
  return commands + "\n";
}

std::string best_text(const std::vector<MetricsRow>& rows) {
  const MetricsRow* best = nullptr;
  for (const MetricsRow& row : rows) {
    if (row.split == "validation" && (!best || row.accuracy > best->accuracy)) best = &row;
  }
  if (!best) return "";
  return "best validation " + percent(best->accuracy) + " at step " + std::to_string(best->step);
}

// Class names beyond this are cut: a matrix must stay larger than its margins.
constexpr std::size_t longest_name = 24;

std::string shortened(const std::string& name) {
  std::size_t letters = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((name[i] & 0xC0) != 0x80 && ++letters > longest_name) return name.substr(0, i) + "…";
  }
  return name;
}

// Pixels of a confusion matrix at 10 points of font size.
struct MatrixLayout {
  int cell, left, right = 90, top = 70, bottom, width, height;

  MatrixLayout(int64_t classes, const std::vector<std::string>& names) {
    std::size_t letters = 4;
    for (const std::string& name : names) letters = std::max(letters, std::min(name.size(), longest_name + 1));
    cell = static_cast<int>(std::clamp<int64_t>(960 / classes, 12, 46));
    left = 50 + static_cast<int>(letters) * 7;
    bottom = left;
    const int side = cell * static_cast<int>(classes);
    width = left + side + right;
    height = top + side + bottom;
  }
};

std::string margins(const MatrixLayout& layout) {
  std::ostringstream text;
  text << "set lmargin at screen " << double(layout.left) / layout.width << "\nset rmargin at screen "
       << 1.0 - double(layout.right) / layout.width << "\nset tmargin at screen "
       << 1.0 - double(layout.top) / layout.height << "\nset bmargin at screen "
       << double(layout.bottom) / layout.height << "\n";
  return text.str();
}

std::string matrix_tics(const std::vector<std::string>& names) {
  std::string tics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    tics += (i ? ", " : "") + gnuplot_tic(shortened(names[i])) + " " + std::to_string(i);
  }
  return "set xtics (" + tics + ") rotate by 90 right\nset ytics (" + tics + ")\n";
}

// Files of the cells (column, row, share of the row) and of their numbers on light and on dark ground.
std::map<std::string, std::string> matrix_data(const at::Tensor& counts) {
  std::ostringstream cells, on_light, on_dark;
  const auto values = counts.accessor<int64_t, 2>();
  for (int64_t row = 0; row < counts.size(0); ++row) {
    const int64_t total = counts[row].sum().item<int64_t>();
    for (int64_t column = 0; column < counts.size(1); ++column) {
      const int64_t count = values[row][column];
      const double share = total > 0 ? double(count) / double(total) : 0.0;
      cells << column << ' ' << row << ' ' << 100.0 * share << '\n';
      if (count > 0) (share > 0.5 ? on_dark : on_light) << column << ' ' << row << ' ' << count << '\n';
    }
  }
  return {{"cells", cells.str()}, {"on_light", on_light.str()}, {"on_dark", on_dark.str()}};
}

std::string matrix_plot(const at::Tensor& counts, const MatrixLayout& layout,
                        const std::map<std::string, std::string>& data) {
  const auto digits = static_cast<double>(std::to_string(counts.max().item<int64_t>()).size());
  const double font = std::min(10.0, 0.85 * layout.cell / (0.85 * digits));
  std::ostringstream plot;
  plot << "plot 'cells' using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fs solid 1 border lc rgb "
          "'#ffffff' lw 0.5 fc palette notitle";
  for (const auto& [name, colour] : {std::pair{"on_light", "#303030"}, {"on_dark", "#ffffff"}}) {
    if (data.at(name).empty() || font < 4.0) continue;
    plot << ", '" << name << "' using 1:2:(sprintf('%d', $3)) with labels center font '," << font << "' textcolor rgb '"
         << colour << "' notitle";
  }
  return plot.str() + "\n";
}

// How the camera stands: turned about the vertical axis, then lifted.
struct View {
  const char* name;
  double azimuth, elevation;  // degrees
};
constexpr std::array<View, 2> views = {View{"front", 35.0, 20.0}, View{"behind", 215.0, 20.0}};

// [n, 3]: to the right, up, towards the eye.
at::Tensor seen(const at::Tensor& points, const View& view) {
  const double a = view.azimuth * M_PI / 180.0, e = view.elevation * M_PI / 180.0;
  const at::Tensor camera = at::tensor({std::cos(a), 0.0, -std::sin(a),                                       //
                                        -std::sin(e) * std::sin(a), std::cos(e), -std::sin(e) * std::cos(a),  //
                                        std::cos(e) * std::sin(a), std::sin(e), std::cos(e) * std::cos(a)},
                                       at::kDouble);
  return points.matmul(camera.view({3, 3}).t());
}

// Circles from the farthest to the nearest: gnuplot draws them in this order.
std::string circles(const at::Tensor& projected, const at::Tensor& values, double radius, double extent) {
  const at::Tensor order = projected.select(1, 2).argsort();
  const at::Tensor rows = at::cat({projected, values.unsqueeze(1)}, 1).index_select(0, order).contiguous();
  const auto row = rows.accessor<double, 2>();
  std::ostringstream data;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    // Nearer circles a little larger: without perspective the eye needs the hint.
    const double size = radius * (1.0 + 0.25 * row[i][2] / extent);
    data << row[i][0] << ' ' << row[i][1] << ' ' << size << ' ' << row[i][3] << '\n';
  }
  return data.str();
}

// The edges of the bounding box, as pairs of lines.
std::string box_edges(const at::Tensor& corners) {
  const auto corner = corners.accessor<double, 2>();
  std::ostringstream data;
  for (int from = 0; from < 8; ++from) {
    for (const int axis : {1, 2, 4}) {
      if (from & axis) continue;
      data << corner[from][0] << ' ' << corner[from][1] << '\n'
           << corner[from | axis][0] << ' ' << corner[from | axis][1] << "\n\n";
    }
  }
  return data.str();
}

at::Tensor box_corners(const at::Tensor& points) {
  const at::Tensor bounds = at::stack({points.amin(0), points.amax(0)});
  std::vector<at::Tensor> corners;
  for (int corner = 0; corner < 8; ++corner) {
    corners.push_back(at::stack({bounds[corner & 1][0], bounds[(corner >> 1) & 1][1], bounds[(corner >> 2) & 1][2]}));
  }
  return at::stack(corners);
}

void check_cloud(const at::Tensor& points, const at::Tensor& values) {
  TORCH_CHECK(points.dim() == 2 && points.size(1) == 3 && points.size(0) > 0,
              "points: expected [n, 3] with n > 0, found ", points.sizes());
  TORCH_CHECK(values.dim() == 1 && values.size(0) == points.size(0), "values: expected [", points.size(0), "], found ",
              values.sizes());
  TORCH_CHECK(points.isfinite().all().item<bool>(), "points: expected finite coordinates");
  TORCH_CHECK(values.isfinite().all().item<bool>(), "values: expected finite numbers");
}

std::string cloud_script(const at::Tensor& values, double half_width, double half_height, const std::string& title,
                         const std::string& value_label) {
  double low = values.min().item<double>(), high = values.max().item<double>();
  if (low == high) low -= 0.5, high += 0.5;
  std::ostringstream script;
  script << viridis << "set cbrange [" << low << ":" << high << "]\nunset border\nunset tics\nunset key\n"
         << "set xrange [" << -half_width << ":" << half_width << "]\nset yrange [" << -half_height << ":"
         << half_height << "]\nset size ratio -1\nset multiplot title " << gnuplot_string(title) << " font ',13'\n"
         << "set tmargin at screen 0.88\nset bmargin at screen 0.08\n";
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool last = i + 1 == views.size();
    script << "set lmargin at screen " << 0.02 + 0.44 * i << "\nset rmargin at screen " << 0.44 + 0.44 * i << "\n";
    if (last) {
      script << "set colorbox user origin screen 0.915, screen 0.18 size screen 0.016, screen 0.6 noborder\n"
                "set cbtics out nomirror textcolor rgb '#303030'\n"
             << "set label 1 " << gnuplot_string(value_label) << " at screen 0.923, screen 0.82 center\n";
    } else {
      script << "unset colorbox\n";
    }
    script << "set label 2 'seen from " << (i == 0 ? "the front" : "behind") << "' at graph 0.5, screen 0.045 center "
           << "textcolor rgb '#707070'\n"
           << "plot 'box" << i << "' with lines lw 0.6 lc rgb '#cccccc', 'points" << i
           << "' with circles fs solid 1 border lc rgb '#40000000' lw 0.25 fc palette\n";
  }
  script << "unset multiplot\n";
  return script.str();
}

}  // namespace

PlotResult plot_learning_curves(const std::filesystem::path& metrics_csv, const std::filesystem::path& stem) {
  const std::vector<MetricsRow> rows = read_metrics(metrics_csv);
  if (rows.empty()) return {false, metrics_csv.string() + " holds no metrics yet"};
  Picture picture{.width = 1000, .height = 400};
  picture.data = {{"train", curve_data(rows, "train")}, {"validation", curve_data(rows, "validation")}};
  picture.script = std::string(frame) + "set multiplot layout 1,2\nset xlabel 'step'\nset format x '%.0f'\n" +
                   "set key top right\nset title 'loss'\nset yrange [0:*]\n" + curve_commands(picture.data, 2) +
                   "set key bottom right\nset title " + gnuplot_string("accuracy (%)   " + best_text(rows)) +
                   "\nset yrange [0:100]\n" + curve_commands(picture.data, 3) + "unset multiplot\n";
  return draw(picture, stem);
}

PlotResult plot_confusion_matrix(const at::Tensor& counts, const std::vector<std::string>& names,
                                 const std::filesystem::path& stem, const std::string& title) {
  const auto classes = static_cast<int64_t>(names.size());
  TORCH_CHECK(counts.scalar_type() == at::kLong && counts.dim() == 2 && counts.size(0) == classes &&
                  counts.size(1) == classes && classes > 0,
              "counts: expected int64 [C, C] for C = ", classes, " class names, found ", counts.scalar_type(), " ",
              counts.sizes());
  const at::Tensor matrix = counts.to(at::kCPU).contiguous();
  const int64_t total = matrix.sum().item<int64_t>(), right = matrix.trace().item<int64_t>();
  const std::string summary = total > 0 ? std::to_string(right) + " of " + std::to_string(total) +
                                              " right: " + percent(double(right) / double(total))
                                        : "no clouds";
  const MatrixLayout layout(classes, names);
  Picture picture{.width = layout.width, .height = layout.height};
  picture.data = matrix_data(matrix);
  const std::string range = "[-0.5:" + std::to_string(classes) + "-0.5]";
  picture.script = std::string(blues) + margins(layout) + matrix_tics(names) +
                   "set border 0\nset tics scale 0 textcolor rgb '#303030'\nunset key\nset cbrange [0:100]\n"
                   "set cbtics 25 out nomirror scale 0.5\nset cblabel 'share of the true class (%)'\n"
                   "set xrange " +
                   range + "\nset yrange " + range +
                   " reverse\n"
                   "set xlabel 'predicted'\nset ylabel 'true'\nset label " +
                   gnuplot_string(title) + " at graph 0, screen 1 offset 0,-1.2 font ',13'\nset label " +
                   gnuplot_string(summary) + " at graph 0, screen 1 offset 0,-2.6 textcolor rgb '#606060'\n" +
                   matrix_plot(matrix, layout, picture.data);
  return draw(picture, stem);
}

PlotResult plot_cloud(const at::Tensor& points, const at::Tensor& values, const std::filesystem::path& stem,
                      const std::string& title, const std::string& value_label) {
  check_cloud(points, values);
  at::Tensor cloud = points.to(at::kCPU, at::kDouble);
  const at::Tensor colours = values.to(at::kCPU, at::kDouble);
  cloud = cloud - 0.5 * (cloud.amin(0) + cloud.amax(0));
  const at::Tensor corners = box_corners(cloud);
  // A single point, or all equal: any scale will do.
  const double extent = std::max(corners.norm(2, 1).max().item<double>(), 1e-12);
  const double radius = extent * std::clamp(0.5 / std::sqrt(double(cloud.size(0))), 0.008, 0.06);
  Picture picture{.width = 1100, .height = 520};
  double half_width = radius, half_height = radius;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const at::Tensor box = seen(corners, views[i]);
    const at::Tensor reach = box.abs().amax(0) + 1.5 * radius;
    half_width = std::max(half_width, reach[0].item<double>());
    half_height = std::max(half_height, reach[1].item<double>());
    picture.data["box" + std::to_string(i)] = box_edges(box);
    picture.data["points" + std::to_string(i)] = circles(seen(cloud, views[i]), colours, radius, extent);
  }
  picture.script = cloud_script(colours, half_width, half_height, title, value_label);
  return draw(picture, stem);
}

}  // namespace geosft
