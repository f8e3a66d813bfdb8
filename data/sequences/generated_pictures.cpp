// SPDX-License-Identifier: Apache-2.0
// Generates a small set of pictures in the form of ImageNet.
#include <algorithm>
#include <array>
#include <cmath>

#include "data/atomic_file.h"
#include "data/seeds.h"
#include "data/sequences/picture_folders.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Shapes in the square from -1 to 1.
struct Figure {
  const char* name;
  bool (*covers)(double x, double y);
};
constexpr std::array<Figure, 6> figures = {{
    {"disc", [](double x, double y) { return x * x + y * y < 1; }},
    {"square", [](double x, double y) { return std::max(std::abs(x), std::abs(y)) < 0.85; }},
    {"triangle", [](double x, double y) { return y < 0.9 && y > 2 * std::abs(x) - 0.9; }},
    {"ring",
     [](double x, double y) {
       const double r = x * x + y * y;
       return r < 1 && r > 0.4;
     }},
    {"cross", [](double x, double y) { return std::min(std::abs(x), std::abs(y)) < 0.3 && std::hypot(x, y) < 1; }},
    {"bar", [](double x, double y) { return std::abs(y) < 0.3 && std::abs(x) < 1; }},
}};

using Colour = std::array<double, 3>;

class Painter {
 public:
  explicit Painter(uint64_t seed) : generator_(make_generator(seed)) {}

  ColourImage paint(const Figure& figure, const GeneratedPictures& options) {
    ColourImage image{side(options), side(options), {}};
    image.pixels.resize(static_cast<size_t>(3 * image.height * image.width));
    const Colour from = colour(20, 120), to = colour(20, 120), ink = colour(150, 250);
    const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
    const double radius = std::min(height, width) * number(0.28, 0.42), x = number(radius, width - radius),
                 y = number(radius, height - radius);
    const at::Tensor noise = at::randn({3 * image.height * image.width}, generator_) * 8.0;
    const float* const more = noise.const_data_ptr<float>();
    for (int64_t row = 0; row < image.height; ++row) {
      for (int64_t column = 0; column < image.width; ++column) {
        const bool inside =
            figure.covers((static_cast<double>(column) - x) / radius, (static_cast<double>(row) - y) / radius);
        const double share = (static_cast<double>(row) + static_cast<double>(column)) / (height + width);
        for (size_t channel = 0; channel < 3; ++channel) {
          const auto place = static_cast<size_t>(3 * (row * image.width + column)) + channel;
          const double value = inside ? ink[channel] : from[channel] + share * (to[channel] - from[channel]);
          image.pixels[place] = static_cast<uint8_t>(std::clamp(value + double{more[place]}, 0.0, 255.0));
        }
      }
    }
    return image;
  }

 private:
  double number(double low, double high) {
    return at::empty({}, at::kDouble).uniform_(low, high, generator_).item<double>();
  }
  int64_t side(const GeneratedPictures& options) {
    return at::randint(options.min_side, options.max_side + 1, {}, generator_, at::kLong).item<int64_t>();
  }
  Colour colour(double low, double high) {
    const double red = number(low, high), green = number(low, high), blue = number(low, high);
    return {red, green, blue};
  }

  at::Generator generator_;
};

}  // namespace

void write_generated_pictures(const fs::path& folder, const GeneratedPictures& options, uint64_t seed) {
  TORCH_CHECK(options.classes >= 2 && options.classes <= static_cast<int64_t>(figures.size()),
              "classes must lie in [2, ", figures.size(), "], got ", options.classes);
  TORCH_CHECK(options.train >= options.classes && options.validation >= options.classes,
              "train and validation must be at least the number of classes, ", options.classes, ", got ", options.train,
              " and ", options.validation);
  TORCH_CHECK(options.min_side >= 8 && options.min_side <= options.max_side,
              "min_side must be at least 8 and at most max_side, got ", options.min_side, " and ", options.max_side);
  uint64_t split = 0;
  for (const auto& [name, count] : {std::pair("train", options.train), std::pair("val", options.validation)}) {
    for (int64_t i = 0; i < count; ++i) {
      const Figure& figure = figures[static_cast<size_t>(i % options.classes)];
      const fs::path place = folder / name / figure.name;
      fs::create_directories(place);
      Painter painter(combine_seeds({seed, split, static_cast<uint64_t>(i)}));
      const ColourImage image = painter.paint(figure, options);
      const bool png = i / options.classes % 4 == 3;
      const std::string number = std::to_string(i);
      write_file_atomically(place / ("picture_" + std::string(6 - std::min<size_t>(6, number.size()), '0') + number +
                                     (png ? ".png" : ".jpg")),
                            png ? colour_png_bytes(image) : jpeg_bytes(image));
    }
    ++split;
  }
}

}  // namespace geosft
