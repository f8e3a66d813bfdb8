// SPDX-License-Identifier: Apache-2.0
// From values to colours that colour-blind people can tell apart, too.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <string>
#include <vector>

namespace geosft {

using Colour = std::array<double, 3>;  // red, green, blue, each in [0, 1]

// Both grow in lightness from end to end. Cividis looks nearly the same with and without red-green blindness.
enum class ColourMap { viridis, cividis };
inline constexpr std::array<ColourMap, 2> colour_maps = {ColourMap::viridis, ColourMap::cividis};

const char* colour_map_name(ColourMap map);
// Throws c10::Error naming the maps for another name.
ColourMap colour_map_of(const std::string& name);

// The map's colours at even places, dark to light.
const std::vector<Colour>& colour_stops(ColourMap map);
// The colour at `place` in [0, 1], linear between the stops; places outside get the ends.
Colour colour_at(ColourMap map, double place);

// The values that the ends of a map stand for.
struct ValueScale {
  double low = 0.0, high = 1.0;
};
// From the least to the greatest of values [n], n > 0; equal values get a scale of length 1 around them.
ValueScale scale_of(const at::Tensor& values);

// values [n]: double [n, 3].
at::Tensor colours_of(ColourMap map, const at::Tensor& values, const ValueScale& scale);

}  // namespace geosft
