// SPDX-License-Identifier: Apache-2.0
#include "tools/view/overlay.h"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "data/points/shape.h"
#include "tools/view/viewer.h"

namespace geosft::view {
namespace {

constexpr double margin = 16, line_height = 20, font_size = 13;
constexpr double min_label_size = 11, max_label_size = 26;
constexpr double bar_width = 14, bar_height = 200, min_bar_height = 40, bar_steps = 100;
constexpr int bar_numbers = 4;                 // steps between the numbers of a bar, from end to end
constexpr double text_indent = bar_width + 6;  // of text next to bars and discs
constexpr double clearance = 8;                // between texts and the scene
constexpr double min_share = 1.0 / 3.0;        // of the whole picture; below it the scene is drawn under the texts

using Canvas = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;
using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;

Surface surface_on(std::vector<uint32_t>& pixels, const PictureSize& size) {
  return {cairo_image_surface_create_for_data(reinterpret_cast<unsigned char*>(pixels.data()), CAIRO_FORMAT_ARGB32,
                                              size.width, size.height, 4 * size.width),
          &cairo_surface_destroy};
}

// Draws in units that are already multiplied by `scale`.
class Pen {
 public:
  Pen(cairo_t* canvas, double width, double height, const Colour& background = {1, 1, 1})
      : canvas_(canvas), width_(width), height_(height), background_(background) {
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
  // y is the vertical middle of the line.
  void write(double x, double y, const std::string& text) {
    const double ink = is_dark() ? 0.92 : 0.15;
    cairo_set_source_rgb(canvas_, ink, ink, ink);
    cairo_move_to(canvas_, x, y + 0.36 * font_size);
    cairo_show_text(canvas_, text.c_str());
  }
  // Writes black with a white edge, around the place.
  void label(double x, double y, double radius, const std::string& text) {
    const double size = std::clamp(1.1 * radius, min_label_size, max_label_size);
    cairo_set_font_size(canvas_, size);
    cairo_move_to(canvas_, x - measure(text) / 2, y + 0.36 * size);
    cairo_text_path(canvas_, text.c_str());
    cairo_set_source_rgb(canvas_, 1, 1, 1);
    cairo_set_line_width(canvas_, 3);
    cairo_set_line_join(canvas_, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke_preserve(canvas_);
    cairo_set_source_rgb(canvas_, 0.05, 0.05, 0.05);
    cairo_fill(canvas_);
    cairo_set_font_size(canvas_, font_size);
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

  const Colour& background() const { return background_; }

 private:
  // By the relative luminance of sRGB, without its gamma.
  bool is_dark() const { return 0.2126 * background_[0] + 0.7152 * background_[1] + 0.0722 * background_[2] < 0.4; }

  cairo_t* canvas_;
  double width_, height_;
  Colour background_;
};

void draw_bar(Pen& pen, const Box& box, ColourMap map, const ValueScale& scale) {
  const double height = box.bottom - box.top;
  for (double step = 0; step < bar_steps; ++step) {
    pen.fill(box.left, box.top + height * (1 - (step + 1) / bar_steps), bar_width, height / bar_steps + 0.5,
             colour_at(map, (step + 0.5) / bar_steps));
  }
  const std::vector<std::string> numbers = scale_numbers(scale, bar_numbers);
  for (int i = 0; i <= bar_numbers; ++i) {
    const double share = static_cast<double>(i) / bar_numbers;
    pen.write(box.left + text_indent, box.top + height * (1 - share), numbers[static_cast<size_t>(i)]);
  }
}

double number_width(Pen& pen, const ValueScale& scale) {
  double widest = 0;
  for (const std::string& number : scale_numbers(scale, bar_numbers)) widest = std::max(widest, pen.measure(number));
  return widest;
}

// The texts, bar and names with their boxes, in the units of the pen.
struct Layout {
  std::vector<std::pair<std::string, Box>> texts;  // the lines and the title of the legend
  std::optional<Box> bar;                          // without the half lines of its end labels
  std::vector<std::pair<std::pair<std::string, Colour>, Box>> names;
};

// Places as many names as fit; if not all fit, the last line says how many are left out.
void place_names(Pen& pen, const std::vector<std::pair<std::string, Colour>>& names, double y, Layout& layout) {
  const auto room = static_cast<size_t>(std::max((pen.height() - margin - y) / line_height, 1.0));
  for (size_t i = 0; i < std::min(names.size(), room); ++i, y += line_height) {
    if (i + 1 == room && names.size() > room) {
      const std::string text = "… " + std::to_string(names.size() - i) + " more";
      layout.texts.push_back({text, {margin, y, margin + pen.measure(text), y + line_height}});
      return;
    }
    const double width = text_indent + pen.measure(names[i].first);
    layout.names.push_back({names[i], {margin, y, margin + width, y + line_height}});
  }
}

Layout layout_of(Pen& pen, const Scene& scene) {
  Layout layout;
  double y = margin;
  std::vector<std::string> texts = scene.lines;
  if (!scene.legend.title.empty()) texts.push_back(scene.legend.title);
  for (const std::string& text : texts) {
    layout.texts.push_back({text, {margin, y, margin + pen.measure(text), y + line_height}});
    y += line_height;
  }
  const auto names = static_cast<double>(scene.legend.names.size());
  if (scene.legend.bar) {
    const double room = pen.height() - y - (names + 1) * line_height - margin;
    const double height = std::clamp(room, min_bar_height, bar_height),
                 width = number_width(pen, scene.legend.bar->second);
    layout.bar = Box{margin, y + line_height / 2, margin + text_indent + width, y + line_height / 2 + height};
    y += height + line_height;
  }
  place_names(pen, scene.legend.names, y, layout);
  return layout;
}

void draw_layout(Pen& pen, const Layout& layout, const Legend& legend) {
  for (const auto& [text, box] : layout.texts) pen.write(box.left, box.top + line_height / 2, text);
  if (layout.bar) draw_bar(pen, *layout.bar, legend.bar->first, legend.bar->second);
  for (const auto& [name, box] : layout.names) {
    pen.disc(box.left + bar_width / 2, box.top + line_height / 2, bar_width / 2, name.second);
    pen.write(box.left + text_indent, box.top + line_height / 2, name.first);
  }
}

void draw_help(Pen& pen) {
  double wide = 0;
  for (const auto& [key, meaning] : Viewer::keys()) wide = std::max(wide, pen.measure(meaning));
  constexpr double key_width = 110;
  const double w = key_width + wide + 2 * margin;
  const double h = static_cast<double>(Viewer::keys().size()) * line_height + 2 * margin;
  const double x = (pen.width() - w) / 2, y = (pen.height() - h) / 2;
  pen.fill(x, y, w, h, pen.background(), 0.92);
  double line = y + margin + line_height / 2;
  for (const auto& [key, meaning] : Viewer::keys()) {
    pen.write(x + margin, line, key);
    pen.write(x + margin + key_width, line, meaning);
    line += line_height;
  }
}

}  // namespace

Raster overlay_of(const Scene& scene, bool help, const PictureSize& size, double scale,
                  const std::vector<PlacedLabel>& labels) {
  Raster raster{size, std::vector<uint32_t>(static_cast<size_t>(size.width) * static_cast<size_t>(size.height))};
  const Surface surface = surface_on(raster.pixels, size);
  {
    const Canvas canvas(cairo_create(surface.get()), &cairo_destroy);
    cairo_scale(canvas.get(), scale, scale);
    Pen pen(canvas.get(), size.width / scale, size.height / scale, scene.background);
    for (const PlacedLabel& label : labels)
      pen.label(label.x / scale, label.y / scale, label.radius / scale, label.text);
    draw_layout(pen, layout_of(pen, scene), scene.legend);
    if (help) draw_help(pen);
  }
  cairo_surface_finish(surface.get());
  return raster;
}

std::vector<Box> taken_up(const Scene& scene, const PictureSize& size, double scale) {
  std::vector<uint32_t> pixel(1);
  const Surface surface = surface_on(pixel, {1, 1});
  const Canvas canvas(cairo_create(surface.get()), &cairo_destroy);
  Pen pen(canvas.get(), size.width / scale, size.height / scale);
  const Layout layout = layout_of(pen, scene);
  std::vector<Box> taken;
  const auto take = [&](const Box& box, double above) {
    taken.push_back({scale * box.left, scale * (box.top - above), scale * (box.right + clearance),
                     scale * (box.bottom + above + clearance)});
  };
  for (const auto& [text, box] : layout.texts) take(box, 0);
  if (layout.bar) take(*layout.bar, line_height / 2);
  for (const auto& [name, box] : layout.names) take(box, 0);
  return taken;
}

Box room_beside(const std::vector<Box>& taken, const PictureSize& size, double proportions) {
  const Box all{0, 0, static_cast<double>(size.width), static_cast<double>(size.height)};
  const auto tall = [&](const Box& box) {
    return std::min((box.right - box.left) / proportions, box.bottom - box.top);
  };
  // Candidates: right of some of the boxes and below all others.
  std::vector<double> lefts = {0};
  for (const Box& box : taken) lefts.push_back(box.right);
  Box best{0, 0, 0, 0};
  for (const double left : lefts) {
    Box room{left, 0, all.right, all.bottom};
    for (const Box& box : taken) {
      if (box.right > left) room.top = std::max(room.top, box.bottom);
    }
    if (tall(room) > tall(best)) best = room;
  }
  return tall(best) < min_share * tall(all) ? all : best;
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
        const int y = row * factor + i / factor, x = column * factor + i % factor;
        const uint32_t pixel = raster.pixels[static_cast<size_t>(int64_t{y} * raster.size.width + x)];
        for (size_t c = 0; c < 4; ++c) sums[c] += pixel >> (8 * c) & 0xff;
      }
      uint32_t mean = 0;
      for (size_t c = 0; c < 4; ++c) mean |= (sums[c] + area / 2) / area << (8 * c);
      small.pixels.push_back(mean);
    }
  }
  return small;
}

void paste(const Raster& piece, int left, int top, Raster& onto) {
  TORCH_CHECK(left >= 0 && top >= 0 && left + piece.size.width <= onto.size.width &&
                  top + piece.size.height <= onto.size.height,
              "piece: ", piece.size.width, " x ", piece.size.height, " at ", left, ", ", top, " is not within ",
              onto.size.width, " x ", onto.size.height);
  const uint32_t* pixel = piece.pixels.data();
  for (int row = 0; row < piece.size.height; ++row) {
    uint32_t* below = onto.pixels.data() + int64_t{top + row} * onto.size.width + left;
    for (int column = 0; column < piece.size.width; ++column, ++pixel, ++below) {
      const uint32_t seen_through = 255 - (*pixel >> 24);
      uint32_t mixed = 0;
      for (int shift = 0; shift < 32; shift += 8) {
        mixed |= std::min(255U, (*pixel >> shift & 0xff) + ((*below >> shift & 0xff) * seen_through + 127) / 255)
                 << shift;
      }
      *below = mixed;
    }
  }
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
