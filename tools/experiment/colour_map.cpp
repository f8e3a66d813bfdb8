// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/colour_map.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace geosft {
namespace {

// matplotlib's maps at seventeen equidistant positions, from 0 to 255.
std::vector<Colour> viridis_stops() {
  return {{68, 1, 84},    {72, 24, 106},  {71, 45, 123},  {66, 64, 134},  {59, 82, 139},  {51, 99, 141},
          {44, 114, 142}, {38, 130, 142}, {33, 145, 140}, {31, 160, 136}, {40, 174, 128}, {63, 188, 115},
          {94, 201, 98},  {132, 212, 75}, {173, 220, 48}, {216, 226, 25}, {253, 231, 37}};
}

std::vector<Colour> cividis_stops() {
  return {{0, 34, 78},     {0, 46, 106},    {26, 56, 111},   {50, 67, 109},   {67, 78, 108},   {83, 90, 109},
          {97, 101, 111},  {111, 112, 115}, {125, 124, 120}, {140, 136, 120}, {155, 148, 118}, {171, 160, 114},
          {188, 174, 108}, {205, 187, 99},  {222, 201, 88},  {240, 216, 70},  {254, 232, 56}};
}

std::vector<Colour> in_unit_range(std::vector<Colour> stops) {
  for (Colour& stop : stops) {
    for (double& channel : stop) channel /= 255.0;
  }
  return stops;
}

}  // namespace

const char* colour_map_name(ColourMap map) {
  return map == ColourMap::viridis ? "viridis" : "cividis";
}

ColourMap colour_map_of(const std::string& name) {
  for (const ColourMap map : colour_maps) {
    if (name == colour_map_name(map)) return map;
  }
  TORCH_CHECK(false, "name of a colour map must be viridis or cividis, not ", name);
}

const std::vector<Colour>& colour_stops(ColourMap map) {
  static const std::vector<Colour> viridis = in_unit_range(viridis_stops()), cividis = in_unit_range(cividis_stops());
  return map == ColourMap::viridis ? viridis : cividis;
}

Colour colour_at(ColourMap map, double place) {
  const std::vector<Colour>& stops = colour_stops(map);
  const double scaled = std::clamp(place, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const size_t below = std::min(static_cast<size_t>(scaled), stops.size() - 2);
  Colour mixed;
  for (size_t i = 0; i < mixed.size(); ++i) {
    mixed[i] = std::lerp(stops[below][i], stops[below + 1][i], scaled - static_cast<double>(below));
  }
  return mixed;
}

ValueScale scale_of(const at::Tensor& values) {
  TORCH_CHECK(values.numel() > 0, "values: expected some, found none");
  ValueScale scale{values.min().item<double>(), values.max().item<double>()};
  if (scale.low == scale.high) {
    const double half = std::max(0.5, 5e-7 * std::abs(scale.low));
    scale.low -= half, scale.high += half;
  }
  return scale;
}

std::vector<std::string> scale_numbers(const ValueScale& scale, int steps) {
  std::vector<std::string> numbers;
  for (int digits = 3; digits <= 17; ++digits) {
    numbers.clear();
    for (int i = 0; i <= steps; ++i) {
      std::array<char, 32> text;
      const double value = std::lerp(scale.low, scale.high, static_cast<double>(i) / steps);
      std::snprintf(text.data(), text.size(), "%.*g", digits, value);
      numbers.emplace_back(text.data());
    }
    if (std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end()) break;
  }
  return numbers;
}

at::Tensor colours_of(ColourMap map, const at::Tensor& values, const ValueScale& scale) {
  const at::Tensor places = ((values.to(at::kDouble) - scale.low) / (scale.high - scale.low)).contiguous();
  at::Tensor colours = at::empty({values.size(0), 3}, at::kDouble);
  const double* place = places.const_data_ptr<double>();
  double* colour = colours.mutable_data_ptr<double>();
  for (int64_t i = 0; i < values.size(0); ++i, colour += 3) {
    const Colour found = colour_at(map, place[i]);
    std::copy(found.begin(), found.end(), colour);
  }
  return colours;
}

}  // namespace geosft
