// SPDX-License-Identifier: Apache-2.0
// Extends Open3D's camera with an off-centre target. Included only by window.cpp.
#pragma once

#include <open3d/visualization/visualizer/ViewControl.h>

#include <algorithm>
#include <cmath>

namespace geosft::view {

// Rotates and zooms about the middle of a scene, wherever it appears in the picture.
class PlacedControl : public open3d::visualization::ViewControl {
 public:
  // Degrees. Open3D draws orthographically at the smallest one that it knows, which is told by 0 here.
  double field_of_view() const { return orthographic_ ? 0.0 : 30.0; }

  PlacedControl() { aspect_ = 1.0; }  // until the window has a size

  // Sets where the middle appears: from -1 (left, bottom) to 1.
  void place(double across, double above) {
    about_the_middle([&] {
      across_ = across;
      above_ = above;
    });
  }

  void set_orthographic(bool orthographic) { orthographic_ = orthographic; }

  // Looks at the middle of a scene of size `extent`; half the height of the picture spans `reach`.
  void look(const Eigen::Vector3d& middle, const Eigen::Vector3d& front, const Eigen::Vector3d& up, double extent,
            double reach) {
    // Open3D's zoom is limited and relative to the box, which also determines the clipping planes.
    const double side = std::max(extent, reach / ZOOM_DEFAULT);
    const Eigen::Vector3d half = Eigen::Vector3d::Constant(side / 2);
    bounding_box_ = open3d::geometry::AxisAlignedBoundingBox(middle - half, middle + half);
    Reset();
    ChangeFieldOfView((std::max(field_of_view(), FIELD_OF_VIEW_MIN) - FIELD_OF_VIEW_DEFAULT) / FIELD_OF_VIEW_STEP);
    SetUp(up);
    SetFront(front);
    SetZoom(reach / side);
    shift(1);
    first_zoom_ = zoom_;
  }

  // Returns the zoom relative to that of the last call of look().
  double farther() const { return zoom_ / first_zoom_; }
  Eigen::Vector3d front() const { return front_; }
  Eigen::Vector3d up() const { return up_; }

  void ChangeWindowSize(int width, int height) override {
    about_the_middle([&] { ViewControl::ChangeWindowSize(width, height); });
  }
  void Scale(double scale) override {
    about_the_middle([&] { ViewControl::Scale(scale); });
  }
  void Rotate(double x, double y, double from_x = 0.0, double from_y = 0.0) override {
    about_the_middle([&] { ViewControl::Rotate(x, y, from_x, from_y); });
  }
  void Roll(double x) override {
    about_the_middle([&] { ViewControl::Roll(x); });
  }

 private:
  template <typename Change>
  void about_the_middle(const Change& change) {
    shift(-1);
    change();
    shift(1);
  }
  void shift(double sign) {
    lookat_ -= sign * view_ratio_ * (across_ * aspect_ * right_ + above_ * up_);
    SetProjectionParameters();
  }

  double across_ = 0, above_ = 0, first_zoom_ = 1;
  bool orthographic_ = false;
};

}  // namespace geosft::view
