// SPDX-License-Identifier: Apache-2.0
// The window and its pictures. One implementation uses Open3D; another one replaces it if Open3D is missing.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "tools/view/camera.h"
#include "tools/view/viewer.h"

namespace geosft::view {

// Frames per second of a scene that turns, all of its points and those of them that are drawn while it moves.
struct FrameRates {
  int64_t points = 0, moving_points = 0;
  double all = 0.0, moving = 0.0;
};

class Display {
 public:
  virtual ~Display() = default;
  // Draws the scene from each of the cameras, without a visible window, to the file of that place.
  virtual void render(const Scene& scene, const PictureSize& size, const std::vector<Camera>& cameras,
                      const std::vector<std::filesystem::path>& files) = 0;
  virtual FrameRates measure(const Scene& scene, const PictureSize& size, const Camera& camera) = 0;
  // Opens a window until it is closed. `told` is given a line for every pick and every saved picture.
  virtual void show(Viewer& viewer, const PictureSize& size, const Camera& camera,
                    const std::function<void(const std::string&)>& told) = 0;
};

// The display of this build. Its functions throw std::runtime_error with what to do where there is no Open3D, no
// display, or none that can draw.
std::unique_ptr<Display> make_display();

}  // namespace geosft::view
