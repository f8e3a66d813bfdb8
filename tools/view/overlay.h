// SPDX-License-Identifier: Apache-2.0
// Draws texts and legends over a scene with Cairo, and writes PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tools/scene/camera.h"
#include "tools/scene/scene.h"

namespace geosft::view {

// Pixels in row-major order from the upper left corner, ARGB from the highest byte to the lowest, premultiplied by
// alpha.
struct Raster {
  PictureSize size;
  std::vector<uint32_t> pixels;
};

// Draws the scene's lines from the upper left corner down, its legend below them, and the keys if `help`, on a
// transparent background. `scale` enlarges texts and bars. If they do not fit below each other, the bar is shortened
// and names are left out.
// `labels` are written at their places, in pixels, later ones over earlier ones, as large as the points under them
// allow.
struct PlacedLabel {
  std::string text;
  double x = 0, y = 0;
  double radius = 0;  // of the point, in pixels
};
Raster overlay_of(const Scene& scene, bool help, const PictureSize& size, double scale,
                  const std::vector<PlacedLabel>& labels = {});

// Returns the boxes occupied by the scene's lines and legend, with a margin.
std::vector<Box> taken_up(const Scene& scene, const PictureSize& size, double scale);

// Returns the box in which something of these proportions (width / height) is drawn largest without overlapping the
// taken boxes. If it would be less than a third of its full size, returns the whole picture.
Box room_beside(const std::vector<Box>& taken, const PictureSize& size, double proportions);

// Downsamples by averaging `factor` x `factor` blocks. The size must be divisible by `factor`.
Raster shrunk(const Raster& raster, int factor);

// Draws `piece` over `onto`, from this pixel on; both premultiplied. Throws c10::Error unless it lies within.
void paste(const Raster& piece, int left, int top, Raster& onto);

// Throws DataError when the file cannot be written.
void write_png(const Raster& raster, const std::filesystem::path& file);

}  // namespace geosft::view
