// SPDX-License-Identifier: Apache-2.0
#include "geometry/triangulate_polygon.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace geosft {
namespace {

using Place = std::array<double, 2>;
using TriangleCorners = std::vector<std::array<int64_t, 3>>;

// The share of the polygon's area that the triangles of a fan may overlap: corners that were rounded in a file.
constexpr double fan_tolerance = 1e-6;
// Corners count as collinear up to this share of the squared extent.
constexpr double collinear_tolerance = 1e-13;
// Limit of the tests of ear clipping, per polygon.
constexpr int64_t max_tests = 400'000'000;

TriangleCorners fan(int64_t corners) {
  TriangleCorners triangles;
  triangles.reserve(static_cast<size_t>(corners - 2));
  for (int64_t i = 2; i < corners; ++i) triangles.push_back({0, i - 1, i});
  return triangles;
}

double cross(const Place& a, const Place& b) {
  return a[0] * b[1] - a[1] * b[0];
}

Place operator-(const Place& a, const Place& b) {
  return {a[0] - b[0], a[1] - b[1]};
}

// Returns the doubled signed area of a triangle.
double turn(const Place& a, const Place& b, const Place& c) {
  return cross(b - a, c - a);
}

// Projects along the largest axis of the normal (Newell's method). The polygon then runs anticlockwise, in coordinates
// that are relative to its first corner. Returns nothing for a polygon without area.
std::optional<std::vector<Place>> flattened(const std::vector<std::array<double, 3>>& corners) {
  std::array<double, 3> normal = {0, 0, 0};
  const auto relative = [&](size_t i, size_t axis) { return corners[i % corners.size()][axis] - corners[0][axis]; };
  for (size_t i = 1; i + 1 < corners.size(); ++i) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
      normal[axis] += relative(i, u) * relative(i + 1, v) - relative(i, v) * relative(i + 1, u);
    }
  }
  const auto* const largest =
      std::max_element(normal.begin(), normal.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (!std::isfinite(normal[0] + normal[1] + normal[2]) || *largest == 0) return std::nullopt;
  const auto axis = static_cast<size_t>(largest - normal.begin());
  size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
  if (*largest < 0) std::swap(u, v);
  std::vector<Place> places;
  places.reserve(corners.size());
  for (size_t i = 0; i < corners.size(); ++i) places.push_back({relative(i, u), relative(i, v)});
  return places;
}

// The signed areas of the triangles of a fan add up to the area of the polygon: without negative ones, they cover it
// once.
bool is_covered_by_fan(const std::vector<Place>& places) {
  double total = 0, minimum = 0;
  for (size_t i = 2; i < places.size(); ++i) {
    const double area = turn(places[0], places[i - 1], places[i]);
    total += area;
    minimum = std::min(minimum, area);
  }
  return minimum >= -fan_tolerance * total;
}

// The corners that are left, as a ring. Triangles whose orientation is that of the polygon, and which are cut off one
// after the other, cover it exactly once: the tests below only keep the rest free of negative areas.
class EarClipping {
 public:
  explicit EarClipping(const std::vector<Place>& places) : places_(places) {
    const auto count = static_cast<int64_t>(places.size());
    for (int64_t i = 0; i < count; ++i) {
      next_.push_back((i + 1) % count);
      previous_.push_back((i + count - 1) % count);
    }
    double extent = 0;
    for (const Place& place : places) extent = std::max({extent, std::abs(place[0]), std::abs(place[1])});
    flat_ = collinear_tolerance * extent * extent;
  }

  // Returns nothing if no ear is found.
  std::optional<TriangleCorners> run() {
    TriangleCorners triangles;
    auto left = static_cast<int64_t>(places_.size());
    int64_t corner = 0;
    while (left > 3) {
      const std::optional<int64_t> ear = find_ear(corner, left);
      if (!ear) return std::nullopt;
      triangles.push_back({previous_[*ear], *ear, next_[*ear]});
      next_[previous_[*ear]] = next_[*ear];
      previous_[next_[*ear]] = previous_[*ear];
      corner = next_[next_[*ear]];  // not the same corner again and again, which makes slivers
      --left;
    }
    triangles.push_back({previous_[corner], corner, next_[corner]});
    if (area_at(corner) < -flat_) return std::nullopt;
    return triangles;
  }

 private:
  const Place& at(int64_t corner) const { return places_[static_cast<size_t>(corner)]; }
  double area_at(int64_t corner) const { return turn(at(previous_[corner]), at(corner), at(next_[corner])); }

  // Prefers ears with no other corner on their boundary.
  std::optional<int64_t> find_ear(int64_t first, int64_t left) {
    for (const bool closed : {true, false}) {
      int64_t corner = first;
      for (int64_t i = 0; i < left; ++i, corner = next_[corner]) {
        if (tests_ > max_tests) return std::nullopt;
        if (is_ear(corner, closed)) return corner;
      }
    }
    return std::nullopt;
  }

  bool is_ear(int64_t corner, bool closed) {
    const double area = area_at(corner);
    if (area < -flat_) return false;
    if (area <= flat_) return true;  // without area: nothing is covered twice
    const std::array<int64_t, 3> ear = {previous_[corner], corner, next_[corner]};
    for (int64_t other = next_[ear[2]]; other != ear[0]; other = next_[other]) {
      ++tests_;
      if (reaches_into(ear, other, closed)) return false;
    }
    return true;
  }

  // Returns whether the corner, or an edge from a corner at the same place as one of the ear's, lies in the ear.
  bool reaches_into(const std::array<int64_t, 3>& ear, int64_t other, bool closed) const {
    for (size_t i = 0; i < 3; ++i) {
      if (at(other) != at(ear[i])) continue;
      const Place ahead = at(ear[(i + 1) % 3]) - at(other), behind = at(ear[(i + 2) % 3]) - at(other);
      const auto enters = [&](int64_t end) {
        const Place edge = at(end) - at(other);
        return cross(ahead, edge) > flat_ && cross(edge, behind) > flat_;
      };
      return enters(next_[other]) || enters(previous_[other]);
    }
    const double low = closed ? -flat_ : flat_;
    for (size_t i = 0; i < 3; ++i) {
      if (turn(at(ear[i]), at(ear[(i + 1) % 3]), at(other)) < low) return false;
    }
    return true;
  }

  const std::vector<Place>& places_;
  std::vector<int64_t> next_, previous_;
  double flat_ = 0;
  int64_t tests_ = 0;
};

}  // namespace

std::vector<std::array<int64_t, 3>> triangulate_polygon(const std::vector<std::array<double, 3>>& corners) {
  const auto count = static_cast<int64_t>(corners.size());
  TORCH_CHECK(count >= 3, "corners of a polygon must be at least 3, got ", count);
  if (count == 3) return {{0, 1, 2}};
  const std::optional<std::vector<Place>> places = flattened(corners);
  if (!places || is_covered_by_fan(*places)) return fan(count);
  const std::optional<TriangleCorners> triangles = EarClipping(*places).run();
  return triangles ? *triangles : fan(count);
}

}  // namespace geosft
