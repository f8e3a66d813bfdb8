// SPDX-License-Identifier: Apache-2.0
// Texts and legends over a scene, drawn by Cairo, and pictures as files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tools/view/camera.h"
#include "tools/view/scene.h"

namespace geosft::view {

// Pixels from the upper left corner, row by row: alpha, red, green, blue from the highest byte to the lowest, colours
// premultiplied by alpha.
struct Raster {
  PictureSize size;
  std::vector<uint32_t> pixels;
};

// Lines of the scene from the upper left corner down and its legend below them, and the keys if `help`, on nothing.
// `scale` enlarges texts and bars. Where they do not fit below each other the bar is shorter, and of the names there
// are fewer.
Raster overlay_of(const Scene& scene, bool help, const PictureSize& size, double scale);

// What the lines and the legend of the scene take up, with some room around them.
std::vector<Box> taken_up(const Scene& scene, const PictureSize& size, double scale);

// Where something of these proportions (width / height) is drawn largest without reaching into what is taken up from
// the upper left corner on. Where that leaves less than a third of its size: all of the picture.
Box room_beside(const std::vector<Box>& taken, const PictureSize& size, double proportions);

// Each `factor` x `factor` block as its mean. The size must be divisible.
Raster shrunk(const Raster& raster, int factor);

// Throws DataError when the file cannot be written.
void write_png(const Raster& raster, const std::filesystem::path& file);

}  // namespace geosft::view
