// SPDX-License-Identifier: Apache-2.0
// Declares the display: rendering to files and an interactive window. Implemented with Open3D; without it every call is
// an error.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "tools/scene/camera.h"
#include "tools/scene/contact_sheet.h"
#include "tools/view/viewer.h"

namespace geosft::view {

// Frames per second of a turning scene, with all points and with the subset drawn while it moves.
struct FrameRates {
  int64_t points = 0, moving_points = 0;
  double all = 0.0, moving = 0.0;
};

class Display {
 public:
  virtual ~Display() = default;
  // Renders the scene off screen from camera i to file i.
  virtual void render(const Scene& scene, const PictureSize& size, const std::vector<Camera>& cameras,
                      const std::vector<std::filesystem::path>& files) = 0;
  // Renders scenes of one shape off screen, scene i to file i, from one place: what moves is what differs.
  virtual void render_frames(const std::vector<Scene>& scenes, const PictureSize& size, const Camera& camera,
                             const std::vector<std::filesystem::path>& files) = 0;
  // Renders the scenes of a sheet in a grid, beside its key, to one file of this size.
  virtual void render_sheet(const ContactSheet& sheet, const PictureSize& size, const Camera& camera,
                            const std::filesystem::path& file) = 0;
  virtual FrameRates measure(const Scene& scene, const PictureSize& size, const Camera& camera) = 0;
  // Opens a window until it is closed. `told` receives a line for every pick and every saved picture.
  virtual void show(Viewer& viewer, const PictureSize& size, const Camera& camera,
                    const std::function<void(const std::string&)>& told) = 0;
};

// Creates the display of this build. Its functions throw std::runtime_error with advice if Open3D, a display or OpenGL
// is missing.
std::unique_ptr<Display> make_display();

}  // namespace geosft::view
