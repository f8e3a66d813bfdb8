// SPDX-License-Identifier: Apache-2.0
// The display by Open3D: the one source that includes it.
#include <open3d/geometry/BoundingVolume.h>
#include <open3d/visualization/visualizer/Visualizer.h>

// After Open3D, which brings the OpenGL loader that must come first.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "tools/view/display.h"
#include "tools/view/open3d_geometry.h"
#include "tools/view/overlay_renderer.h"

namespace geosft::view {
namespace {

namespace o3d = open3d;

constexpr int oversampling = 2;      // of pictures
constexpr double square_side = 2.0;  // of a point, pixels
constexpr double narrower = -6.0;    // steps of 5 degrees from Open3D's field of view of 60
constexpr double fill_share = 1.12;  // room around the scene
constexpr double turn_pixels = 8.0;  // of a drag, a frame of the turntable

[[noreturn]] void fail_without_display() {
  const char* display = std::getenv("DISPLAY");
  const std::string found = display == nullptr || *display == '\0'
                                ? "no display: DISPLAY is not set"
                                : "the display '" + std::string(display) + "' cannot be opened, or lacks OpenGL 3.3";
  throw std::runtime_error(found +
                           "; without a screen: xvfb-run -a geosft-view … (Debian: xvfb, xauth), or --ply FILE, "
                           "which needs none");
}

// A window on one scene at a time.
class Window : public o3d::visualization::Visualizer {
 public:
  Window(const PictureSize& size, int scale, bool visible) : scale_(scale) {
    o3d::utility::SetVerbosityLevel(o3d::utility::VerbosityLevel::Error);
    if (std::getenv("DISPLAY") == nullptr ||
        !CreateVisualizerWindow("geosft-view", scale * size.width, scale * size.height, 50, 50, visible)) {
      fail_without_display();
    }
    overlay_ = std::make_shared<OverlayRenderer>();
    utility_renderer_ptrs_.push_back(overlay_);
    auto& option = GetRenderOption();
    option.mesh_shade_option_ = o3d::visualization::RenderOption::MeshShadeOption::SmoothShade;
    option.point_color_option_ = o3d::visualization::RenderOption::PointColorOption::Color;
    option.point_size_ = square_side * scale;
  }
  ~Window() override {
    overlay_.reset();
    utility_renderer_ptrs_.clear();  // while the window that it draws in is still there
  }

  void set_scene(const Scene& scene) {
    const Geometries made = geometries_of(scene);
    ClearGeometries();
    moving_points_ = made.moving_points;
    for (const auto* group : {&made.always, &made.at_rest, &made.moving}) {
      for (const Geometry& geometry : *group) AddGeometry(geometry, /*reset_bounding_box=*/false);
    }
    at_rest_ = made.at_rest;
    moving_ = made.moving;
    low_ = scene.points.amin(0) - scene.radius;
    high_ = scene.points.amax(0) + scene.radius;
    set_moving(false);
    window_name_ = scene.title;
    UpdateWindowTitle();
  }

  void set_overlay(const Scene& scene, bool help) {
    glfwMakeContextCurrent(window_);
    overlay_->set(overlay_of(scene, help, size(), scale_));
    UpdateRender();
  }

  // Fits the scene into the picture from there.
  void look(const Camera& camera) {
    auto& control = GetViewControl();
    control.ResetBoundingBox();
    const auto corner = [](const at::Tensor& place) { return vectors_of(place.unsqueeze(0)).front(); };
    const auto box = o3d::geometry::AxisAlignedBoundingBox(corner(low_), corner(high_));
    const o3d::geometry::PointCloud ends(std::vector<Eigen::Vector3d>{box.min_bound_, box.max_bound_});
    control.FitInGeometry(ends);
    control.Reset();
    control.ChangeFieldOfView(narrower);
    const auto eye = towards_eye(camera), up = upwards(camera);
    control.SetUp({up[0], up[1], up[2]});
    control.SetFront({eye[0], eye[1], eye[2]});
    control.SetLookat(box.GetCenter());
    const Eigen::Vector3d front(eye[0], eye[1], eye[2]), above(up[0], up[1], up[2]), right = above.cross(front);
    const Eigen::Vector3d half = box.GetHalfExtent();
    const double tall = half.cwiseProduct(above.cwiseAbs()).sum(), wide = half.cwiseProduct(right.cwiseAbs()).sum();
    const double deep = half.cwiseProduct(front.cwiseAbs()).sum();
    const double reach = std::max(tall, wide * size().height / size().width);
    // What is nearer than the middle looks larger by perspective.
    const double slope = std::tan(control.GetFieldOfView() / 360.0 * M_PI);
    control.SetZoom(camera.distance * fill_share * (reach + deep * slope * 0.5) / box.GetMaxExtent());
    UpdateRender();
  }

  Raster picture() {
    const auto image = CaptureScreenFloatBuffer(true);
    Raster raster{{image->width_, image->height_}, {}};
    const auto* channel = reinterpret_cast<const float*>(image->data_.data());
    for (int i = 0; i < image->width_ * image->height_; ++i, channel += 3) {
      uint32_t pixel = 0xff;
      for (int c = 0; c < 3; ++c) {
        pixel = pixel << 8 | static_cast<uint32_t>(std::lround(255.0 * std::clamp(channel[c], 0.0F, 1.0F)));
      }
      raster.pixels.push_back(pixel);
    }
    return shrunk(raster, scale_);
  }

  // Shows the thinned cloud instead of the whole one.
  void set_moving(bool moves) {
    const auto show = [&](const std::vector<Geometry>& group, bool visible) {
      for (const auto& renderer : geometry_renderer_ptrs_) {
        for (const Geometry& geometry : group) {
          if (renderer->HasGeometry(geometry)) renderer->SetVisible(visible);
        }
      }
    };
    show(at_rest_, !moves);
    show(moving_, moves);
    UpdateRender();
  }

  // Frames a second over about two seconds of turning.
  double frame_rate() {
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(0);
    Render();
    glFinish();
    const auto begin = std::chrono::steady_clock::now();
    double seconds = 0;
    int frames = 0;
    for (; seconds < 2.0; ++frames) {
      GetViewControl().Rotate(turn_pixels, 0);
      Render();
      glFinish();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return frames / seconds;
  }

  void run(Viewer& viewer, const Camera& camera, const std::function<void(const std::string&)>& told) {
    viewer_ = &viewer;
    camera_ = camera;
    told_ = told;
    show_viewer();
    look(camera);
    while (viewer.turning() ? PollEvents() : WaitEvents()) {
      if (viewer.turning()) GetViewControl().Rotate(turn_pixels, 0), UpdateRender();
    }
    viewer_ = nullptr;
  }

  int64_t moving_points() const { return moving_points_; }

 protected:
  void WindowResizeCallback(GLFWwindow* window, int w, int h) override {
    Visualizer::WindowResizeCallback(window, w, h);
    if (viewer_ != nullptr && w > 0 && h > 0) set_overlay(viewer_->scene(), viewer_->help());
  }

  void MouseButtonCallback(GLFWwindow* window, int button, int action, int mods) override {
    if (button == GLFW_MOUSE_BUTTON_LEFT && action == GLFW_PRESS && (mods & GLFW_MOD_SHIFT) != 0) {
      pick(window);
      return;
    }
    Visualizer::MouseButtonCallback(window, button, action, mods);
    set_moving(action == GLFW_PRESS || (viewer_ != nullptr && viewer_->turning()));
  }

  void KeyPressCallback(GLFWwindow* window, int key, int scancode, int action, int mods) override {
    if (action == GLFW_RELEASE) return;
    if (key == GLFW_KEY_R) return look(camera_);
    if (key == GLFW_KEY_MINUS || key == GLFW_KEY_EQUAL) {
      Visualizer::KeyPressCallback(window, key, scancode, action, mods);
      return;
    }
    try {
      react(viewer_->press(letter_of(key)));
    } catch (const std::exception& error) {  // a broken file of the gallery, say: what was shown stays
      told_(error.what());
    }
  }

 private:
  PictureSize size() const { return {view_control_ptr_->GetWindowWidth(), view_control_ptr_->GetWindowHeight()}; }

  static char letter_of(int key) {
    switch (key) {
      case GLFW_KEY_LEFT:
        return Viewer::left;
      case GLFW_KEY_RIGHT:
        return Viewer::right;
      case GLFW_KEY_UP:
        return Viewer::up;
      case GLFW_KEY_DOWN:
        return Viewer::down;
      case GLFW_KEY_ESCAPE:
        return Viewer::escape;
      default:
        return key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? static_cast<char>(key) : '\0';
    }
  }

  void show_viewer() {
    set_scene(viewer_->scene());
    set_overlay(viewer_->scene(), viewer_->help());
    set_moving(viewer_->turning());
  }

  void react(Reaction reaction) {
    if (reaction == Reaction::redraw) show_viewer();
    if (reaction == Reaction::quit) Close();
    if (reaction == Reaction::save) save();
  }

  void save() {
    for (int number = 1;; ++number) {
      const std::string file = "geosft-view-" + std::to_string(number) + ".png";
      if (std::filesystem::exists(file)) continue;
      write_png(picture(), file);
      told_("saved " + file);
      return;
    }
  }

  void pick(GLFWwindow* window) {
    const Scene& scene = viewer_->scene();
    double x = 0, y = 0;
    glfwGetCursorPos(window, &x, &y);
    const Eigen::Matrix<double, 4, 4, Eigen::RowMajor> matrix = view_control_ptr_->GetMVPMatrix().cast<double>();
    const at::Tensor projection =
        at::from_blob(const_cast<double*>(matrix.data()), {4, 4}, at::TensorOptions().dtype(at::kDouble));
    const auto row = picked_point(scene.points, scene.radius, projection, size(), x, y);
    if (!row) return;
    const std::string text = viewer_->pick(*row);
    if (text.empty()) return;
    told_(text);
    show_viewer();
  }

  std::shared_ptr<OverlayRenderer> overlay_;
  std::vector<Geometry> at_rest_, moving_;
  at::Tensor low_, high_;
  int64_t moving_points_ = 0;
  int scale_;
  Viewer* viewer_ = nullptr;
  Camera camera_;
  std::function<void(const std::string&)> told_;
};

class Open3dDisplay : public Display {
 public:
  void render(const Scene& scene, const PictureSize& size, const std::vector<Camera>& cameras,
              const std::vector<std::filesystem::path>& files) override {
    Window window(size, oversampling, /*visible=*/false);
    window.set_scene(scene);
    window.set_overlay(scene, /*help=*/false);
    for (size_t i = 0; i < cameras.size(); ++i) {
      window.look(cameras[i]);
      write_png(window.picture(), files[i]);
    }
  }

  FrameRates measure(const Scene& scene, const PictureSize& size, const Camera& camera) override {
    Window window(size, 1, /*visible=*/true);
    window.set_scene(scene);
    window.set_overlay(scene, /*help=*/false);
    window.look(camera);
    FrameRates rates{scene.points.size(0), window.moving_points()};
    rates.all = window.frame_rate();
    window.set_moving(true);
    rates.moving = window.frame_rate();
    return rates;
  }

  void show(Viewer& viewer, const PictureSize& size, const Camera& camera,
            const std::function<void(const std::string&)>& told) override {
    Window(size, 1, /*visible=*/true).run(viewer, camera, told);
  }
};

}  // namespace

std::unique_ptr<Display> make_display() {
  return std::make_unique<Open3dDisplay>();
}

}  // namespace geosft::view
