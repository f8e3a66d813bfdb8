// SPDX-License-Identifier: Apache-2.0
// Implements the display of a build without Open3D: its functions report what is missing.
#include <stdexcept>

#include "tools/view/display.h"

namespace geosft::view {
namespace {

[[noreturn]] void fail_without_open3d() {
  throw std::runtime_error(
      "this build cannot draw, for lack of Open3D and Cairo: tools/setup.sh --viewer installs them, then build again; "
      "--html FILE and --ply FILE work without");
}

class AbsentDisplay : public Display {
 public:
  void render(const Scene&, const PictureSize&, const std::vector<Camera>&,
              const std::vector<std::filesystem::path>&) override {
    fail_without_open3d();
  }
  void render_frames(const std::vector<Scene>&, const PictureSize&, const Camera&,
                     const std::vector<std::filesystem::path>&) override {
    fail_without_open3d();
  }
  void render_sheet(const ContactSheet&, const PictureSize&, const Camera&, const std::filesystem::path&) override {
    fail_without_open3d();
  }
  FrameRates measure(const Scene&, const PictureSize&, const Camera&) override { fail_without_open3d(); }
  void show(Viewer&, const PictureSize&, const Camera&, const std::function<void(const std::string&)>&) override {
    fail_without_open3d();
  }
};

}  // namespace

std::unique_ptr<Display> make_display() {
  return std::make_unique<AbsentDisplay>();
}

}  // namespace geosft::view
