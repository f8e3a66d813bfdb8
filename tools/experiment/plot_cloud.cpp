// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "tools/experiment/colour_map.h"
#include "tools/experiment/plots.h"

namespace geosft {
namespace {

// In pixels of the SVG.
constexpr int top = 60, bottom = 50, gap = 30, scale_room = 130;
constexpr int tallest_panel = 420, lowest_panel = 230;  // of one or two panels, and of many: texts stay readable
constexpr int key_line = 22, key_indent = 18, key_margin = 20, letter_width = 8;  // of names and their discs
constexpr double narrowest_panel = 0.57, widest_panel = 1.24;                     // relative to the height
constexpr double pixels_per_point_size = 4.0;  // radius of gnuplot's point 7 at size 1

int packed(const Colour& colour, double shade) {
  int result = 0;
  for (const double channel : colour) result = result * 256 + static_cast<int>(std::lround(255.0 * channel * shade));
  return result;
}

std::string palette() {
  std::string text = "set palette defined (";
  const std::vector<Colour>& stops = colour_stops(ColourMap::viridis);
  for (std::size_t i = 0; i < stops.size(); ++i) {
    std::array<char, 64> stop;
    std::snprintf(stop.data(), stop.size(), "%s%zu '#%06x'", i ? ", " : "", i, packed(stops[i], 1.0));
    text += stop.data();
  }
  return text + ")\n";
}

// Projects points [n, 3] -> [n, 3]: right, up, towards the viewer.
at::Tensor seen(const at::Tensor& points, const CloudPanel& panel) {
  const double a = panel.azimuth * M_PI / 180.0;
  const double e = panel.elevation * M_PI / 180.0;
  const at::Tensor right = at::tensor({std::cos(a), 0.0, -std::sin(a)}, at::kDouble);
  const at::Tensor up = at::tensor({-std::sin(e) * std::sin(a), std::cos(e), -std::sin(e) * std::cos(a)}, at::kDouble);
  const at::Tensor eye = at::tensor({std::cos(e) * std::sin(a), std::sin(e), std::cos(e) * std::cos(a)}, at::kDouble);
  return points.matmul(at::stack({right, up, eye}, 1));
}

// Returns the eight corners of the bounding box; bit i of the row index selects the upper bound of axis i.
at::Tensor box_corners(const at::Tensor& points) {
  const at::Tensor low = points.amin(0), high = points.amax(0);
  std::vector<at::Tensor> corners;
  for (int corner = 0; corner < 8; ++corner) {
    const at::Tensor upper = at::tensor({corner & 1, corner >> 1 & 1, corner >> 2 & 1}, at::kDouble);
    corners.push_back(at::lerp(low, high, upper));
  }
  return at::stack(corners);
}

std::string box_lines(const at::Tensor& corners) {
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

// Explains the colours: a scale of values, or names of classes.
struct ColourKey {
  std::string label;                                  // of the scale
  std::vector<std::pair<std::string, Colour>> names;  // empty: a scale

  // Returns the room right of the panels.
  int room() const {
    size_t longest = 0;
    for (const auto& [name, colour] : names) longest = std::max(longest, name.size());
    return names.empty() ? scale_room : key_indent + key_margin + letter_width * static_cast<int>(longest);
  }
};

// Centres the cloud and scales its bounding box, so that a picture does not depend on position and unit.
struct PanelCloud {
  at::Tensor points, corners, values;

  explicit PanelCloud(const CloudPanel& panel) {
    const at::Tensor raw = panel.points.to(at::kCPU, at::kDouble);
    points = raw - 0.5 * (raw.amin(0) + raw.amax(0));
    // Coincident points have no scale: any value will do.
    points = points / std::max(box_corners(points).norm(2, 1).max().item<double>(), 1e-12);
    corners = box_corners(points);
    values = panel.values.to(at::kCPU, at::kDouble);
  }
};

// Scale and layout shared by the panels. Half extents are per panel.
struct Scene {
  std::vector<PanelCloud> clouds;
  ValueScale scale;
  double half_width = 0.05, half_height = 0.05, panel_width = 0;
  double point_size = 0;
  int key_room, panel_height;

  Scene(const std::vector<CloudPanel>& panels, const ColourKey& key)
      : key_room(key.room()),
        panel_height(std::clamp(2 * tallest_panel / static_cast<int>(panels.size()), lowest_panel, tallest_panel)) {
    std::vector<at::Tensor> values;
    for (const CloudPanel& panel : panels) {
      clouds.emplace_back(panel);
      values.push_back(clouds.back().values);
    }
    scale = scale_of(at::cat(values));
    fit_panel(panels);
  }

  // Makes panels as wide as the clouds need, within limits, with the same scale on both axes.
  void fit_panel(const std::vector<CloudPanel>& panels) {
    int64_t maximum = 1;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const at::Tensor reach = 1.04 * seen(clouds[i].corners, panels[i]).abs().amax(0);
      half_width = std::max(half_width, reach[0].item<double>());
      half_height = std::max(half_height, reach[1].item<double>());
      maximum = std::max(maximum, clouds[i].points.size(0));
    }
    panel_width = panel_height * std::clamp(half_width / half_height, narrowest_panel, widest_panel);
    const double unit = std::max(2.0 * half_width / panel_width, 2.0 * half_height / panel_height);
    half_width = 0.5 * unit * panel_width;
    half_height = 0.5 * unit * panel_height;
    const double radius = std::clamp(0.5 / std::sqrt(double(maximum)), 0.008, 0.06);
    point_size = radius / unit / pixels_per_point_size;
  }

  int width() const {
    const int count = static_cast<int>(clouds.size());
    return static_cast<int>(count * panel_width) + (count + 1) * gap + key_room;
  }
  int height() const { return top + panel_height + bottom; }
};

// Lists points from far to near, each as a dark disc below a smaller coloured one: gnuplot draws them in this order,
// and the rim separates neighbours. Columns: x, y, size, colour. class_colours: [n, 3], or undefined: of the values.
std::string discs(const Scene& scene, const PanelCloud& cloud, const CloudPanel& panel,
                  const at::Tensor& class_colours) {
  const at::Tensor projected = seen(cloud.points, panel);
  const at::Tensor order = projected.select(1, 2).argsort();
  const at::Tensor colours = class_colours.defined() ? class_colours.to(at::kCPU, at::kDouble)
                                                     : colours_of(ColourMap::viridis, cloud.values, scene.scale);
  const at::Tensor rows = at::cat({projected, colours}, 1).index_select(0, order).contiguous();
  const auto row = rows.accessor<double, 2>();
  std::ostringstream data;
  data.precision(5);
  for (int64_t i = 0; i < rows.size(0); ++i) {
    // Nearer discs are slightly larger, as a depth cue without perspective.
    const double size = scene.point_size * (1.0 + 0.25 * row[i][2]);
    const Colour colour = {row[i][3], row[i][4], row[i][5]};
    data << row[i][0] << ' ' << row[i][1] << ' ' << size << ' ' << packed(colour, 0.55) << '\n'
         << row[i][0] << ' ' << row[i][1] << ' ' << 0.82 * size << ' ' << packed(colour, 1.0) << '\n';
  }
  return data.str();
}

std::string place_scale(const Scene& scene, const std::string& value_label) {
  const double left = 1.0 - double(scale_room - 20) / scene.width();
  const int above = scene.panel_height / 10;
  const double low = double(bottom + above) / scene.height();
  const double length = double(scene.panel_height - 2 * above - 16) / scene.height();
  std::ostringstream script;
  script << "set cbrange [" << scene.scale.low << ":" << scene.scale.high
         << "]\nset colorbox user noborder origin screen " << left << ", screen " << low << " size screen "
         << 16.0 / scene.width() << ", screen " << length
         << "\nset cbtics out nomirror scale 0.5 textcolor rgb '#303030'\nset label 1 " << gnuplot_string(value_label)
         << " at screen " << left + 8.0 / scene.width() << ", screen " << low + length + 22.0 / scene.height()
         << " center\n";
  return script.str();
}

// Places the names from the top of the panels down, each after a disc of its colour.
std::string place_names(const Scene& scene, const std::vector<std::pair<std::string, Colour>>& names) {
  std::ostringstream script;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::array<char, 16> colour;
    std::snprintf(colour.data(), colour.size(), "'#%06x'", packed(names[i].second, 1.0));
    script << "set label " << 10 + i << ' ' << gnuplot_string(names[i].first) << " at screen "
           << 1.0 - double(scene.key_room - key_indent / 2) / scene.width() << ", screen "
           << 1.0 - double(top + 30 + static_cast<int>(i) * key_line) / scene.height()
           << " left point pt 7 ps 1.3 lc rgb " << colour.data() << " offset 1.4,-0.3\n";
  }
  return script.str();
}

std::string plot_panel_of(const Scene& scene, const CloudPanel& panel, std::size_t index, bool scaled) {
  const double left = gap + double(index) * (scene.panel_width + gap);
  std::ostringstream script;
  script << "set lmargin at screen " << left / scene.width() << "\nset rmargin at screen "
         << (left + scene.panel_width) / scene.width() << "\nset label 2 " << gnuplot_string(panel.caption)
         << " at graph 0.5, screen " << 22.0 / scene.height() << " center textcolor rgb '#707070'\n"
         << "plot 'box" << index << "' with lines lw 0.6 lc rgb '#cccccc', 'points" << index
         << "' using 1:2:3:4 with points pt 7 ps variable lc rgb variable";
  // The colour scale is drawn once per picture, by an empty plot that uses the palette.
  return script.str() + (scaled && index + 1 == scene.clouds.size() ? ", NaN with lines lc palette\n" : "\n");
}

void check_cloud(const CloudPanel& panel) {
  const at::Tensor &points = panel.points, &values = panel.values;
  TORCH_CHECK(points.dim() == 2 && points.size(1) == 3 && points.size(0) > 0,
              "points: expected [n, 3] with n > 0, found ", points.sizes());
  TORCH_CHECK(values.dim() == 1 && values.size(0) == points.size(0), "values: expected [", points.size(0), "], found ",
              values.sizes());
  TORCH_CHECK(points.isfinite().all().item<bool>(), "points: expected finite coordinates");
  TORCH_CHECK(values.isfinite().all().item<bool>(), "values: expected finite numbers");
}

PlotResult plot_panels(const std::vector<CloudPanel>& panels, const at::Tensor& class_colours,
                       const std::filesystem::path& stem, const std::string& title, const ColourKey& key) {
  TORCH_CHECK(!panels.empty(), "panels: expected at least one");
  for (const CloudPanel& panel : panels) check_cloud(panel);
  const Scene scene(panels, key);
  std::ostringstream script;
  script << palette() << "unset border\nunset tics\nunset key\nset xrange [" << -scene.half_width << ":"
         << scene.half_width << "]\nset yrange [" << -scene.half_height << ":" << scene.half_height
         << "]\nset tmargin at screen " << 1.0 - double(top) / scene.height() << "\nset bmargin at screen "
         << double(bottom) / scene.height() << "\nset multiplot title " << gnuplot_string(title) << " font ',13'\n";
  Picture picture{.width = scene.width(), .height = scene.height()};
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const PanelCloud& cloud = scene.clouds[i];
    picture.data["box" + std::to_string(i)] = box_lines(seen(cloud.corners, panels[i]).contiguous());
    picture.data["points" + std::to_string(i)] = discs(scene, cloud, panels[i], class_colours);
    if (i + 1 == panels.size()) {
      script << (key.names.empty() ? place_scale(scene, key.label) : place_names(scene, key.names));
    }
    script << plot_panel_of(scene, panels[i], i, key.names.empty());
  }
  picture.script = script.str() + "unset multiplot\n";
  return draw(picture, stem);
}

// Returns a view from the front and one from the back.
std::vector<CloudPanel> both_sides(const at::Tensor& points, const at::Tensor& values) {
  CloudPanel front{points, values, "seen from the front"}, back{points, values, "seen from the back"};
  back.azimuth += 180.0;
  return {front, back};
}

}  // namespace

PlotResult plot_cloud_panels(const std::vector<CloudPanel>& panels, const std::filesystem::path& stem,
                             const std::string& title, const std::string& value_label) {
  return plot_panels(panels, {}, stem, title, {value_label, {}});
}

PlotResult plot_cloud(const at::Tensor& points, const at::Tensor& values, const std::filesystem::path& stem,
                      const std::string& title, const std::string& value_label) {
  return plot_cloud_panels(both_sides(points, values), stem, title, value_label);
}

PlotResult plot_classed_cloud(const at::Tensor& points, const at::Tensor& colours,
                              const std::vector<std::pair<std::string, Colour>>& key, const std::filesystem::path& stem,
                              const std::string& title) {
  TORCH_CHECK(colours.sizes() == points.sizes(), "colours: expected ", points.sizes(), " as the points are, found ",
              colours.sizes());
  TORCH_CHECK(!key.empty(), "key: expected at least one name");
  return plot_panels(both_sides(points, at::zeros({points.size(0)})), colours, stem, title, {"", key});
}

}  // namespace geosft
