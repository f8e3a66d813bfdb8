// SPDX-License-Identifier: Apache-2.0
// Shows one scene at a time in an Open3D window. Included only by window.cpp.
#pragma once

#include <open3d/geometry/BoundingVolume.h>
#include <open3d/visualization/visualizer/Visualizer.h>

// Must follow Open3D, which includes the OpenGL loader.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/scene/camera.h"
#include "tools/view/open3d_geometry.h"
#include "tools/view/overlay_renderer.h"
#include "tools/view/placed_control.h"

namespace geosft::view {

inline constexpr double square_side = 2.0;       // of a point, pixels
inline constexpr double fill_share = 1.0 / 0.9;  // margins of 5 % around the scene
inline constexpr int64_t max_letters = 500;      // points whose labels are drawn in each frame of a window
inline constexpr double turn_pixels = 8.0;       // drag per frame of the turntable

[[noreturn]] inline void fail_without_display() {
  const char* display = std::getenv("DISPLAY");
  const std::string found = display == nullptr || *display == '\0'
                                ? "no display: DISPLAY is not set"
                                : "the display '" + std::string(display) + "' cannot be opened, or lacks OpenGL 3.3";
  throw std::runtime_error(found +
                           "; without a screen: xvfb-run -a geosft-view … (Debian: xvfb, xauth), or "
                           "--html FILE or --ply FILE, which need none");
}

// How much larger than usual texts are in a picture of this size.
inline double growth(const PictureSize& size) {
  const PictureSize usual;
  return std::max(
      1.0, std::min(static_cast<double>(size.width) / usual.width, static_cast<double>(size.height) / usual.height));
}

// Returns the opaque pixel of a Raster for a colour.
inline uint32_t pixel_of(const Colour& colour) {
  uint32_t pixel = 0xff;
  for (const double channel : colour) {
    pixel = pixel << 8 | static_cast<uint32_t>(std::lround(255.0 * std::clamp(channel, 0.0, 1.0)));
  }
  return pixel;
}

class SceneWindow : public open3d::visualization::Visualizer {
 public:
  // Pictures are drawn `scale` times as large as they are written. Texts and the squares of points grow with those that
  // nobody sees drawn, beyond the default size.
  SceneWindow(const PictureSize& size, int scale, bool visible) : SceneWindow(size, scale, visible, size) {}
  // The same for a piece of a picture, with texts as large as in the whole one.
  SceneWindow(const PictureSize& size, int scale, bool visible, const PictureSize& whole)
      : max_letters_(visible ? max_letters : std::numeric_limits<int64_t>::max()),
        scale_(scale),
        detail_(visible ? scale : scale * growth(whole)) {
    open3d::utility::SetVerbosityLevel(open3d::utility::VerbosityLevel::Error);
    if (std::getenv("DISPLAY") == nullptr ||
        !CreateVisualizerWindow("geosft-view", scale * size.width, scale * size.height, 50, 50, visible)) {
      fail_without_display();
    }
    overlay_ = std::make_shared<OverlayRenderer>();
    utility_renderer_ptrs_.push_back(overlay_);
    auto& option = GetRenderOption();
    option.mesh_shade_option_ = open3d::visualization::RenderOption::MeshShadeOption::SmoothShade;
    option.mesh_show_back_face_ = true;  // surfaces of files may be open, or turned inside out
    option.point_color_option_ = open3d::visualization::RenderOption::PointColorOption::Color;
    option.point_size_ = square_side * detail_;
  }
  ~SceneWindow() override {
    overlay_.reset();
    utility_renderer_ptrs_.clear();  // while the window still exists
  }

  void set_scene(const Scene& of_file) {
    const Scene scene = centred(of_file);
    const Geometries made = geometries_of(scene);
    ClearGeometries();
    for (const auto* group : {&made.always, &made.at_rest, &made.moving}) {
      for (const Geometry& geometry : *group) AddGeometry(geometry, /*reset_bounding_box=*/false);
    }
    light(scene.normals.defined() || scene.surface);
    at_rest_ = made.at_rest;
    moving_ = made.moving;
    moving_points_ = made.moving_points;
    box_ = open3d::geometry::AxisAlignedBoundingBox(corner(scene.points.amin(0) - scene.radius),
                                                    corner(scene.points.amax(0) + scene.radius));
    points_ = scene.points;
    radius_ = scene.radius;
    moves_ = true;  // newly added geometries are visible
    set_moving(false);
    window_name_ = scene.title;
    UpdateWindowTitle();
  }

  void set_overlay(const Scene& scene, bool help) {
    glfwMakeContextCurrent(window_);
    GetRenderOption().background_color_ = {scene.background[0], scene.background[1], scene.background[2]};
    lettered_.reset();
    if (!scene.labels.empty() && points_.size(0) <= max_letters_) lettered_ = {scene, help};
    overlay_->set(overlay_of(scene, help, size(), detail_));
    taken_ = taken_up(scene, size(), detail_);
    taken_.insert(taken_.end(), reserved_.begin(), reserved_.end());
    UpdateRender();
  }

  // Keeps the whole width free that the texts of this scene take.
  void reserve_above(const Scene& scene) {
    reserved_.clear();
    for (const Box& box : taken_up(scene, size(), detail_)) {
      reserved_.push_back({0, 0, static_cast<double>(size().width), box.bottom});
    }
  }

  // Keeps the room free, too, that the texts and legends of these scenes need.
  void reserve(const std::vector<Scene>& scenes) {
    for (const Scene& scene : scenes) {
      const std::vector<Box> taken = taken_up(scene, size(), detail_);
      reserved_.insert(reserved_.end(), taken.begin(), taken.end());
    }
  }

  // Fits the scene, seen by `camera`, into the room that texts and legend leave; with `turns`, during a full turn.
  void look(const Camera& camera, bool turns = false) {
    distance_ = camera.distance;
    turns_ = turns;
    control_->set_orthographic(camera.orthographic);
    fit(towards_eye(camera), upwards(camera));
  }

  Raster picture() {
    const auto image = CaptureScreenFloatBuffer(true);
    Raster raster{{image->width_, image->height_}, {}};
    const auto* channel = reinterpret_cast<const float*>(image->data_.data());
    for (int i = 0; i < image->width_ * image->height_; ++i, channel += 3) {
      const uint32_t pixel = pixel_of({channel[0], channel[1], channel[2]});
      raster.pixels.push_back(pixel);
    }
    return shrunk(raster, scale_);
  }

  // Draws the thinned cloud while the scene moves, the whole one otherwise.
  void set_moving(bool moves) {
    if (moving_.empty() || moves == moves_) return;
    moves_ = moves;
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

  // Whether a part of the points is drawn while the scene moves.
  bool thins() const { return !moving_.empty(); }

  // Measures frames per second over about two seconds of turning.
  double frame_rate() {
    glfwMakeContextCurrent(window_);
    glfwSwapInterval(0);
    Render();
    glFinish();
    const auto begin = std::chrono::steady_clock::now();
    double seconds = 0;
    int frames = 0;
    for (; seconds < 2.0; ++frames) {
      control_->Rotate(turn_pixels, 0);
      Render();
      glFinish();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return frames / seconds;
  }

  // Returns the number of points currently drawn.
  int64_t shown_points() const { return moves_ && thins() ? moving_points_ : points_.size(0); }

 protected:
  bool InitViewControl() override {
    auto control = std::make_unique<PlacedControl>();
    control_ = control.get();
    view_control_ptr_ = std::move(control);
    ResetViewPoint();
    return true;
  }

  // Returns the row of the point at a pixel.
  std::optional<int64_t> picked(double x, double y) const {
    return picked_point(points_, radius_, projection(), size(), x, y);
  }

  // Returns the matrix of the last frame, double [4, 4]: clip = projection * (x, y, z, 1).
  at::Tensor projection() const {
    const Eigen::Matrix<double, 4, 4, Eigen::RowMajor> matrix = control_->GetMVPMatrix().cast<double>();
    return at::from_blob(const_cast<double*>(matrix.data()), {4, 4}, at::TensorOptions().dtype(at::kDouble)).clone();
  }

  // Labels move with the points: they are drawn anew for each frame.
  void Render(bool render_screen = false) override {
    if (lettered_) {
      glfwMakeContextCurrent(window_);
      control_->SetViewMatrices();
      const auto& [scene, help] = *lettered_;
      overlay_->set(overlay_of(scene, help, size(), detail_, placed_labels(scene)));
    }
    Visualizer::Render(render_screen);
  }

  PlacedControl& control() const { return *control_; }
  PictureSize size() const { return {control_->GetWindowWidth(), control_->GetWindowHeight()}; }

  // Refits the scene if its size, the legend or the window size has changed; keeps direction and relative distance.
  void refit() {
    if (box_.min_bound_ == fitted_box_.min_bound_ && box_.max_bound_ == fitted_box_.max_bound_ &&
        taken_ == fitted_taken_ && size() == fitted_size_)
      return;
    const auto array = [](const Eigen::Vector3d& v) { return std::array{v[0], v[1], v[2]}; };
    distance_ *= control_->farther();
    fit(array(control_->front()), array(control_->up()));
  }

 private:
  // Lights discs and surfaces from everywhere, and less from the four lamps, so that steep and facing ones keep
  // colours.
  void light(bool flat) {
    auto& option = GetRenderOption();
    option.light_ambient_color_.setConstant(flat ? ambience : 0.0);
    for (double& power : option.light_diffuse_power_) power = flat ? lamp_power_of_flat : lamp_power;
  }

  // Returns the labels of the points in front of the eye at their places, the nearest last.
  std::vector<PlacedLabel> placed_labels(const Scene& scene) const {
    const at::Tensor ones = at::ones({points_.size(0), 1}, at::kDouble), matrix = projection();
    const at::Tensor seen = at::cat({points_, ones}, 1).matmul(matrix.t());
    // The row of the matrix that gives y: pixels, before the division by w, per length across the line of sight.
    const double pixels_per_length = matrix[1].slice(0, 0, 3).norm().item<double>() / 2 * size().height;
    const at::Tensor order = (seen.select(1, 2) / seen.select(1, 3)).argsort(0, /*descending=*/true);
    std::vector<PlacedLabel> labels;
    for (int64_t i = 0; i < order.size(0); ++i) {
      const auto row = order[i].item<int64_t>();
      const auto w = seen[row][3].item<double>();
      if (w <= 0) continue;
      labels.push_back({scene.labels[static_cast<size_t>(row)],
                        (seen[row][0].item<double>() / w + 1) / 2 * size().width,
                        (1 - seen[row][1].item<double>() / w) / 2 * size().height, radius_ * pixels_per_length / w});
    }
    return labels;
  }

  static Eigen::Vector3d corner(const at::Tensor& place) { return vectors_of(place.unsqueeze(0)).front(); }

  void fit(const std::array<double, 3>& front, const std::array<double, 3>& up) {
    const auto vector = [](const std::array<double, 3>& v) { return Eigen::Vector3d(v[0], v[1], v[2]); };
    SeenBox seen = seen_box(points_, radius_, front, up, turns_);
    const PictureSize all = size();
    const Box room = room_beside(taken_, all, seen.wide / seen.tall);
    const double field_of_view = control_->field_of_view();
    if (!turns_) seen = balanced(seen, front, up, room, all, field_of_view);
    const double reach = reach_in(room, all, seen, field_of_view);
    control_->place((room.left + room.right) / all.width - 1, 1 - (room.top + room.bottom) / all.height);
    control_->look(vector(seen.middle), vector(front), vector(up), 2 * std::max({seen.wide, seen.tall, seen.deep}),
                   distance_ * fill_share * reach);
    fitted_box_ = box_;
    fitted_taken_ = taken_;
    fitted_size_ = all;
    UpdateRender();
  }

  std::shared_ptr<OverlayRenderer> overlay_;
  std::vector<Geometry> at_rest_, moving_;
  int64_t moving_points_ = 0;
  at::Tensor points_;  // of the centred scene
  double radius_ = 0.0;
  open3d::geometry::AxisAlignedBoundingBox box_, fitted_box_;  // current, and when last fitted
  std::vector<Box> taken_, fitted_taken_;                      // by texts and legend: current, and when last fitted
  std::vector<Box> reserved_;                                  // by those of other scenes
  PictureSize fitted_size_;
  PlacedControl* control_ = nullptr;                // owned by the window
  std::optional<std::pair<Scene, bool>> lettered_;  // with labels, and whether the keys are shown over it
  int64_t max_letters_;
  int scale_;
  double detail_;
  double distance_ = 1.0;
  bool moves_ = false, turns_ = false;
};

}  // namespace geosft::view
