// SPDX-License-Identifier: Apache-2.0
// Maps values to colours that colour-blind readers can tell apart, too.
#pragma once

#include <ATen/ATen.h>

#include <array>
#include <string>
#include <vector>

namespace geosft {

using Colour = std::array<double, 3>;  // red, green, blue, each in [0, 1]

// Lightness increases monotonically. Cividis looks nearly the same with red-green blindness.
enum class ColourMap { viridis, cividis };
inline constexpr std::array<ColourMap, 2> colour_maps = {ColourMap::viridis, ColourMap::cividis};

const char* colour_map_name(ColourMap map);
// Throws c10::Error for an unknown name; the message lists the maps.
ColourMap colour_map_of(const std::string& name);

// Returns the map's colours at equidistant positions, dark to light.
const std::vector<Colour>& colour_stops(ColourMap map);
// Interpolates linearly between the stops; `place` is clamped to [0, 1].
Colour colour_at(ColourMap map, double place);

// The values at the ends of a map.
struct ValueScale {
  double low = 0.0, high = 1.0;
};
// Returns the minimum and maximum of values [n], n > 0; equal values get a range around them, of
// length 1 or, of large values, a millionth of them.
ValueScale scale_of(const at::Tensor& values);

// Returns the numbers at `steps` equal steps, from low to high, with as few digits as tell them apart: at least 3.
std::vector<std::string> scale_numbers(const ValueScale& scale, int steps);

// Maps values [n] to double [n, 3].
at::Tensor colours_of(ColourMap map, const at::Tensor& values, const ValueScale& scale);

}  // namespace geosft
