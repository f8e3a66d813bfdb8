// SPDX-License-Identifier: Apache-2.0
// Implements the display with Open3D. The only source file that includes Open3D.
#include <functional>
#include <optional>

#include "tools/view/display.h"
#include "tools/view/scene_window.h"

namespace geosft::view {
namespace {

constexpr int oversampling = 2;  // of pictures rendered off screen
constexpr double settling =
    0.5;  // seconds for which the view must be still until all points of a large cloud are drawn

// Lets keys and mouse change what a viewer shows.
class ViewerWindow : public SceneWindow {
 public:
  using SceneWindow::SceneWindow;

  void run(Viewer& viewer, const Camera& camera, const std::function<void(const std::string&)>& told) {
    viewer_ = &viewer;
    camera_ = camera;
    told_ = told;
    show_viewer();
    look(camera);
    while (wait_or_turn()) {
    }
    viewer_ = nullptr;
  }

 protected:
  void WindowResizeCallback(GLFWwindow* window, int w, int h) override {
    Visualizer::WindowResizeCallback(window, w, h);
    if (viewer_ == nullptr || w <= 0 || h <= 0) return;
    set_overlay(viewer_->scene(), viewer_->help());
    refit();
  }

  void MouseScrollCallback(GLFWwindow* window, double x, double y) override {
    Visualizer::MouseScrollCallback(window, x, y);
    settle_later();
  }

  void MouseButtonCallback(GLFWwindow* window, int button, int action, int mods) override {
    if (button == GLFW_MOUSE_BUTTON_LEFT && action == GLFW_PRESS && (mods & GLFW_MOD_SHIFT) != 0) {
      pick(window);
      return;
    }
    Visualizer::MouseButtonCallback(window, button, action, mods);
    if (action != GLFW_PRESS) return settle_later();
    settles_.reset();
    set_moving(true);
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
    } catch (const std::exception& error) {  // a broken file, for example: the previous item stays
      told_(error.what());
    }
  }

 private:
  // Returns false when the window should close. Redraws only if something has changed.
  bool wait_or_turn() {
    if (viewer_->turning()) {
      control().Rotate(turn_pixels, 0);
      UpdateRender();
      return PollEvents();
    }
    if (!settles_ || !thins()) return WaitEvents();
    if (is_redraw_required_) WindowRefreshCallback(window_);
    glfwWaitEventsTimeout(std::max(*settles_ - glfwGetTime(), 0.001));
    if (settles_ && glfwGetTime() >= *settles_) {
      settles_.reset();
      set_moving(false);
    }
    return !glfwWindowShouldClose(window_);
  }

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
    if (!viewer_->scene().colours.is_same(shown_)) set_scene(viewer_->scene());
    shown_ = viewer_->scene().colours;
    set_overlay(viewer_->scene(), viewer_->help());
    refit();
    settle_later();
  }

  // Draws a part of a large cloud until the view has been still for a while, or for as long as it turns by itself.
  void settle_later() {
    settles_.reset();
    set_moving(true);
    if (viewer_ == nullptr || viewer_->turning()) return;
    settles_ = glfwGetTime() + settling;
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
      set_moving(false);  // all points
      write_png(picture(), file);
      told_("saved " + file);
      return;
    }
  }

  void pick(GLFWwindow* window) {
    double x = 0, y = 0;
    glfwGetCursorPos(window, &x, &y);
    const auto row = picked(x, y);
    if (!row) return;
    const std::string text = viewer_->pick(*row);
    if (text.empty()) return;
    told_(text);
    show_viewer();
  }

  Viewer* viewer_ = nullptr;
  Camera camera_;
  std::function<void(const std::string&)> told_;
  at::Tensor shown_;               // colours of the current scene
  std::optional<double> settles_;  // time at which all points are drawn again
};

class Open3dDisplay : public Display {
 public:
  void render(const Scene& scene, const PictureSize& size, const std::vector<Camera>& cameras,
              const std::vector<std::filesystem::path>& files) override {
    SceneWindow window(size, oversampling, /*visible=*/false);
    window.set_scene(scene);
    window.set_overlay(scene, /*help=*/false);
    for (size_t i = 0; i < cameras.size(); ++i) {
      window.look(cameras[i], /*turns=*/cameras.size() > 1);
      write_png(window.picture(), files[i]);
    }
  }

  void render_frames(const std::vector<Scene>& scenes, const PictureSize& size, const Camera& camera,
                     const std::vector<std::filesystem::path>& files) override {
    SceneWindow window(size, oversampling, /*visible=*/false);
    window.reserve(scenes);
    for (size_t i = 0; i < scenes.size(); ++i) {
      window.set_scene(scenes[i]);
      window.set_overlay(scenes[i], /*help=*/false);
      window.look(camera);
      write_png(window.picture(), files[i]);
    }
  }

  void render_sheet(const ContactSheet& sheet, const PictureSize& size, const Camera& camera,
                    const std::filesystem::path& file) override {
    const double detail = growth(size);
    double key_width = 0;
    for (const Box& box : taken_up(sheet.key, size, detail)) key_width = std::max(key_width, box.right);
    const auto columns = static_cast<int>(sheet.grid.columns), rows = static_cast<int>(sheet.grid.rows);
    const int left = std::min(static_cast<int>(key_width), size.width / 3);
    const PictureSize cell{std::max((size.width - left) / columns, 16), std::max(size.height / rows, 16)};
    Raster whole{size, std::vector<uint32_t>(static_cast<size_t>(size.width) * static_cast<size_t>(size.height),
                                             pixel_of(sheet.key.background))};
    paste(overlay_of(sheet.key, /*help=*/false, size, detail), 0, 0, whole);
    SceneWindow window(cell, oversampling, /*visible=*/false, size);
    for (size_t i = 0; i < sheet.scenes.size(); ++i) {
      window.set_scene(sheet.scenes[i]);
      window.reserve_above(sheet.scenes[i]);
      window.set_overlay(sheet.scenes[i], /*help=*/false);
      window.look(camera);
      const int place = static_cast<int>(i);
      paste(window.picture(), left + place % columns * cell.width, place / columns * cell.height, whole);
    }
    write_png(whole, file);
  }

  FrameRates measure(const Scene& scene, const PictureSize& size, const Camera& camera) override {
    SceneWindow window(size, 1, /*visible=*/true);
    window.set_scene(scene);
    window.set_overlay(scene, /*help=*/false);
    window.look(camera);
    FrameRates rates;
    rates.points = window.shown_points();
    rates.all = window.frame_rate();
    window.set_moving(true);
    rates.moving_points = window.shown_points();
    rates.moving = window.frame_rate();
    return rates;
  }

  void show(Viewer& viewer, const PictureSize& size, const Camera& camera,
            const std::function<void(const std::string&)>& told) override {
    ViewerWindow(size, 1, /*visible=*/true).run(viewer, camera, told);
  }
};

}  // namespace

std::unique_ptr<Display> make_display() {
  return std::make_unique<Open3dDisplay>();
}

}  // namespace geosft::view
