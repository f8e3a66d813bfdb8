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

// Lines and legend of the scene, and the keys if `help`, on nothing. `scale` enlarges texts and bars.
Raster overlay_of(const Scene& scene, bool help, const PictureSize& size, double scale);

// Each `factor` x `factor` block as its mean. The size must be divisible.
Raster shrunk(const Raster& raster, int factor);

// Throws DataError when the file cannot be written.
void write_png(const Raster& raster, const std::filesystem::path& file);

}  // namespace geosft::view
