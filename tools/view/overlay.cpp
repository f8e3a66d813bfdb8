// SPDX-License-Identifier: Apache-2.0
#include "tools/view/overlay.h"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "data/shape.h"
#include "tools/view/viewer.h"

namespace geosft::view {
namespace {

constexpr double margin = 16, line_height = 20, font_size = 13, bar_width = 14, bar_height = 200;
constexpr double bar_steps = 100;

using Canvas = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;
using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;

Surface surface_on(std::vector<uint32_t>& pixels, const PictureSize& size) {
  return {cairo_image_surface_create_for_data(reinterpret_cast<unsigned char*>(pixels.data()), CAIRO_FORMAT_ARGB32,
                                              size.width, size.height, 4 * size.width),
          &cairo_surface_destroy};
}

// In units that `scale` has enlarged already.
class Pen {
 public:
  Pen(cairo_t* canvas, double width, double height) : canvas_(canvas), width_(width), height_(height) {
    cairo_select_font_face(canvas, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas, font_size);
  }
  double width() const { return width_; }
  double height() const { return height_; }

  double measure(const std::string& text) {
    cairo_text_extents_t extents;
    cairo_text_extents(canvas_, text.c_str(), &extents);
    return extents.x_advance;
  }
  // y is the middle of the line.
  void write(double x, double y, const std::string& text) {
    cairo_set_source_rgb(canvas_, 0.15, 0.15, 0.15);
    cairo_move_to(canvas_, x, y + 0.36 * font_size);
    cairo_show_text(canvas_, text.c_str());
  }
  void fill(double x, double y, double w, double h, const Colour& colour, double alpha = 1.0) {
    cairo_set_source_rgba(canvas_, colour[0], colour[1], colour[2], alpha);
    cairo_rectangle(canvas_, x, y, w, h);
    cairo_fill(canvas_);
  }
  void disc(double x, double y, double radius, const Colour& colour) {
    cairo_set_source_rgb(canvas_, colour[0], colour[1], colour[2]);
    cairo_arc(canvas_, x, y, radius, 0, 2 * M_PI);
    cairo_fill(canvas_);
  }

 private:
  cairo_t* canvas_;
  double width_, height_;
};

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

void draw_bar(Pen& pen, double x, double y, double height, ColourMap map, const ValueScale& scale) {
  for (double step = 0; step < bar_steps; ++step) {
    pen.fill(x, y + height * (1 - (step + 1) / bar_steps), bar_width, height / bar_steps + 0.5,
             colour_at(map, (step + 0.5) / bar_steps));
  }
  constexpr int numbers = 4;  // between them, with both ends
  for (int i = 0; i <= numbers; ++i) {
    const double share = static_cast<double>(i) / numbers;
    pen.write(x + bar_width + 6, y + height * (1 - share), short_number(std::lerp(scale.low, scale.high, share)));
  }
}

// In the lower left corner, from the bottom up: names, the bar, the title.
void draw_legend(Pen& pen, const Legend& legend) {
  double y = pen.height() - margin;
  for (auto entry = legend.names.rbegin(); entry != legend.names.rend(); ++entry) {
    y -= line_height;
    pen.disc(margin + bar_width / 2, y + line_height / 2, bar_width / 2, entry->second);
    pen.write(margin + bar_width + 6, y + line_height / 2, entry->first);
  }
  if (legend.bar) {
    const double height = std::clamp(bar_height, 0.0, std::max(pen.height() / 2 - 2 * line_height, 20.0));
    y -= height + 0.75 * line_height;
    draw_bar(pen, margin, y, height, legend.bar->first, legend.bar->second);
    y -= 0.25 * line_height;
  }
  pen.write(margin, y - line_height, legend.title);
}

void draw_lines(Pen& pen, const std::vector<std::string>& lines) {
  double y = margin + line_height / 2;
  for (const std::string& line : lines) {
    pen.write(margin, y, line);
    y += line_height;
  }
}

void draw_help(Pen& pen) {
  double wide = 0;
  for (const auto& [key, meaning] : Viewer::keys()) wide = std::max(wide, pen.measure(meaning));
  constexpr double key_width = 110;
  const double w = key_width + wide + 2 * margin;
  const double h = static_cast<double>(Viewer::keys().size()) * line_height + 2 * margin;
  const double x = (pen.width() - w) / 2, y = (pen.height() - h) / 2;
  pen.fill(x, y, w, h, {1, 1, 1}, 0.92);
  double line = y + margin + line_height / 2;
  for (const auto& [key, meaning] : Viewer::keys()) {
    pen.write(x + margin, line, key);
    pen.write(x + margin + key_width, line, meaning);
    line += line_height;
  }
}

}  // namespace

Raster overlay_of(const Scene& scene, bool help, const PictureSize& size, double scale) {
  Raster raster{size, std::vector<uint32_t>(static_cast<size_t>(size.width) * static_cast<size_t>(size.height))};
  const Surface surface = surface_on(raster.pixels, size);
  {
    const Canvas canvas(cairo_create(surface.get()), &cairo_destroy);
    cairo_scale(canvas.get(), scale, scale);
    Pen pen(canvas.get(), size.width / scale, size.height / scale);
    draw_lines(pen, scene.lines);
    draw_legend(pen, scene.legend);
    if (help) draw_help(pen);
  }
  cairo_surface_finish(surface.get());
  return raster;
}

Raster shrunk(const Raster& raster, int factor) {
  TORCH_CHECK(factor >= 1 && raster.size.width % factor == 0 && raster.size.height % factor == 0, "factor ", factor,
              " does not divide ", raster.size.width, " x ", raster.size.height);
  Raster small{{raster.size.width / factor, raster.size.height / factor}, {}};
  const auto area = static_cast<uint32_t>(factor * factor);
  for (int row = 0; row < small.size.height; ++row) {
    for (int column = 0; column < small.size.width; ++column) {
      std::array<uint32_t, 4> sums = {};
      for (int i = 0; i < factor * factor; ++i) {
        const auto y = static_cast<size_t>(row * factor + i / factor),
                   x = static_cast<size_t>(column * factor + i % factor);
        const uint32_t pixel = raster.pixels[y * static_cast<size_t>(raster.size.width) + x];
        for (size_t c = 0; c < 4; ++c) sums[c] += pixel >> (8 * c) & 0xff;
      }
      uint32_t mean = 0;
      for (size_t c = 0; c < 4; ++c) mean |= (sums[c] + area / 2) / area << (8 * c);
      small.pixels.push_back(mean);
    }
  }
  return small;
}

void write_png(const Raster& raster, const std::filesystem::path& file) {
  std::vector<uint32_t> pixels = raster.pixels;
  const Surface surface = surface_on(pixels, raster.size);
  const cairo_status_t status = cairo_surface_write_to_png(surface.get(), file.c_str());
  if (status != CAIRO_STATUS_SUCCESS) {
    throw DataError(file.string(), "a file that can be written", cairo_status_to_string(status));
  }
}

}  // namespace geosft::view
