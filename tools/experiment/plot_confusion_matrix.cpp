// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "tools/experiment/plots.h"

namespace geosft {
namespace {

constexpr const char* matrix_frame = R"(
set palette defined (0 '#f5f8fc', 1 '#d3e2f2', 2 '#9cc3e2', 3 '#5a9bcf', 4 '#2a6fb0', 5 '#0b3c78')
set border 0
set tics scale 0 textcolor rgb '#303030'
set cbtics 25 out nomirror scale 0.5
set cbrange [0:100]
unset key
)";

// Longer class names are truncated, so that the matrix stays larger than its margins.
constexpr std::size_t longest_name = 24;

std::size_t letters(const std::string& name) {
  return std::count_if(name.begin(), name.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

std::string truncated(const std::string& name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((name[i] & 0xC0) != 0x80 && ++count > longest_name) return name.substr(0, i) + "…";
  }
  return name;
}

// Layout in pixels of the SVG, where a letter is about 7 wide. Every side has room for names and titles.
struct Layout {
  int cell, side, left, top = 70, right = 110, bottom, width, height;

  Layout(int64_t classes, const std::vector<std::string>& names, const std::string& title) {
    std::size_t longest = 4;
    for (const std::string& name : names) longest = std::max(longest, std::min(letters(name), longest_name + 1));
    cell = static_cast<int>(std::clamp<int64_t>(960 / classes, 12, 46));
    side = cell * static_cast<int>(classes);
    left = 45 + static_cast<int>(longest) * 7;
    bottom = left;
    // The title needs its width, and the colour scale its height, even for a small matrix.
    right = std::max({right, 430 - left - side, 10 * static_cast<int>(letters(title)) + 10 - side});
    width = left + side + right;
    height = top + side + bottom;
  }

  int bar() const { return std::max(side, 92); }  // length of the colour scale
  double x(double pixels) const { return pixels / width; }
  double y(double pixels_from_the_top) const { return 1.0 - pixels_from_the_top / height; }
};

std::string place_matrix(const Layout& layout) {
  std::ostringstream text;
  text << "set lmargin at screen " << layout.x(layout.left) << "\nset rmargin at screen "
       << layout.x(layout.left + layout.side) << "\nset tmargin at screen " << layout.y(layout.top)
       << "\nset bmargin at screen " << layout.y(layout.top + layout.side)
       << "\nset colorbox user noborder origin screen " << layout.x(layout.left + layout.side + 16) << ", screen "
       << layout.y(layout.top + layout.bar()) << " size screen " << layout.x(14) << ", screen "
       << double(layout.bar()) / layout.height << "\n";
  return text.str();
}

std::string label(const std::string& text, double x, double y, const std::string& style) {
  std::ostringstream command;
  command << "set label " << gnuplot_string(text) << " at screen " << x << ", screen " << y << " " << style << "\n";
  return command.str();
}

std::string summary(const at::Tensor& matrix) {
  const int64_t total = matrix.sum().item<int64_t>();
  const int64_t right = matrix.trace().item<int64_t>();
  std::ostringstream text;
  text.precision(1);
  text << right << " of " << total << " right";
  if (total > 0) text << " (" << std::fixed << 100.0 * double(right) / double(total) << " %)";
  return text.str();
}

std::string labels(const Layout& layout, const std::string& title, const at::Tensor& matrix) {
  const double middle = layout.side / 2.0;
  const std::string grey = "textcolor rgb '#606060'";
  return label(title, layout.x(layout.left), layout.y(20), "font ',13'") +
         label(summary(matrix), layout.x(layout.left), layout.y(45), grey) +
         label("true", layout.x(14), layout.y(layout.top + middle), "center rotate by 90 " + grey) +
         label("predicted", layout.x(layout.left + middle), layout.y(layout.height - 14), "center " + grey) +
         label("% of true", layout.x(layout.left + layout.side + 16), layout.y(layout.top + layout.bar() + 16), grey);
}

std::string tics(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += (i ? ", " : "") + gnuplot_tic(truncated(names[i])) + " " + std::to_string(i);
  }
  return "set xtics (" + list + ") rotate by 90 right\nset ytics (" + list + ")\n";
}

// Returns cells (column, row, percent of the row), and their counts separately for light and dark backgrounds.
std::map<std::string, std::string> cell_data(const at::Tensor& matrix) {
  std::ostringstream cells, on_light, on_dark;
  const auto counts = matrix.accessor<int64_t, 2>();
  for (int64_t row = 0; row < matrix.size(0); ++row) {
    const auto total = std::max(1.0, matrix[row].sum().item<double>());
    for (int64_t column = 0; column < matrix.size(1); ++column) {
      const int64_t count = counts[row][column];
      const double share = double(count) / total;
      cells << column << ' ' << row << ' ' << 100.0 * share << '\n';
      if (count > 0) (share > 0.5 ? on_dark : on_light) << column << ' ' << row << ' ' << count << '\n';
    }
  }
  return {{"cells", cells.str()}, {"on_light", on_light.str()}, {"on_dark", on_dark.str()}};
}

std::string plot_cells(const at::Tensor& matrix, const Layout& layout, const std::map<std::string, std::string>& data) {
  const auto digits = static_cast<double>(std::to_string(matrix.max().item<int64_t>()).size());
  const double font = std::min(10.0, layout.cell / (0.95 * digits));
  std::ostringstream plot;
  plot << "plot 'cells' using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fs solid 1 "
       << "border lc rgb '#ffffff' lw 0.5 fc palette";
  for (const auto& [name, colour] : {std::pair{"on_light", "#303030"}, {"on_dark", "#ffffff"}}) {
    if (data.at(name).empty()) continue;
    plot << ", '" << name << "' using 1:2:(sprintf('%d', $3)) with labels center font '," << font << "' textcolor rgb '"
         << colour << "'";
  }
  return plot.str() + "\n";
}

}  // namespace

PlotResult plot_confusion_matrix(const at::Tensor& counts, const std::vector<std::string>& names,
                                 const std::filesystem::path& stem, const std::string& title) {
  const auto classes = static_cast<int64_t>(names.size());
  TORCH_CHECK(counts.scalar_type() == at::kLong && classes > 0 && counts.sizes() == at::IntArrayRef({classes, classes}),
              "counts: expected int64 [C, C] for C = ", classes, " class names, found ", counts.scalar_type(), " ",
              counts.sizes());
  const at::Tensor matrix = counts.to(at::kCPU).contiguous();
  const Layout layout(classes, names, title);
  const std::string last = std::to_string(classes) + "-0.5";
  Picture picture{.width = layout.width, .height = layout.height};
  picture.data = cell_data(matrix);
  picture.script = std::string(matrix_frame) + place_matrix(layout) + labels(layout, title, matrix) + tics(names) +
                   "set xrange [-0.5:" + last + "]\nset yrange [" + last + ":-0.5]\n" +
                   plot_cells(matrix, layout, picture.data);
  return draw(picture, stem);
}

}  // namespace geosft
