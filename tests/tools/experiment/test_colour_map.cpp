// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/colour_map.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_colour_map {
namespace {

// Relative luminance, roughly.
double lightness(const Colour& colour) {
  return 0.21 * colour[0] + 0.72 * colour[1] + 0.07 * colour[2];
}

}  // namespace

TEST_CASE("both maps grow lighter from end to end") {
  for (const ColourMap map : colour_maps) {
    for (int i = 1; i <= 100; ++i)
      CHECK(lightness(colour_at(map, i / 100.0)) > lightness(colour_at(map, (i - 1) / 100.0)));
    CHECK(colour_at(map, -3.0) == colour_stops(map).front());
    CHECK(colour_at(map, 7.0) == colour_stops(map).back());
    CHECK(colour_map_of(colour_map_name(map)) == map);
  }
  CHECK(colour_at(ColourMap::viridis, 0.0)[2] == Approx(84 / 255.0));
  CHECK(colour_at(ColourMap::cividis, 1.0)[0] == Approx(254 / 255.0));
  require_error([] { colour_map_of("jet"); }, {"viridis", "cividis", "jet"});
}

TEST_CASE("values are coloured by their place on the scale") {
  const at::Tensor values = at::tensor({-1.0, 1.0, 3.0});
  const ValueScale scale = scale_of(values);
  CHECK(scale.low == -1.0);
  CHECK(scale.high == 3.0);
  const at::Tensor colours = colours_of(ColourMap::cividis, values, scale);
  REQUIRE(colours.sizes() == at::IntArrayRef({3, 3}));
  for (int64_t row = 0; row < 3; ++row) {
    const Colour expected = colour_at(ColourMap::cividis, 0.5 * static_cast<double>(row));
    for (int64_t c = 0; c < 3; ++c) CHECK(colours[row][c].item<double>() == Approx(expected[static_cast<size_t>(c)]));
  }
  const ValueScale flat = scale_of(at::full({4}, 2.0));
  CHECK(flat.low == 1.5);
  CHECK(flat.high == 2.5);
  const ValueScale large = scale_of(at::full({4}, 1e20, at::kDouble));
  CHECK(large.low < 1e20);
  CHECK(large.high > 1e20);
  require_error([] { scale_of(at::empty({0})); }, {"values"});
}

TEST_CASE("the numbers of a scale have the digits that tell them apart") {
  using Texts = std::vector<std::string>;
  CHECK(scale_numbers({0, 1}, 4) == Texts{"0", "0.25", "0.5", "0.75", "1"});
  CHECK(scale_numbers({5155487, 5155491}, 4) == Texts{"5155487", "5155488", "5155489", "5155490", "5155491"});
  CHECK(scale_numbers({-1e-9, 1e-9}, 2) == Texts{"-1e-09", "0", "1e-09"});
  CHECK(scale_numbers({1e20, 2e20}, 2) == Texts{"1e+20", "1.5e+20", "2e+20"});
  CHECK(scale_numbers({100, 101}, 4) == Texts{"100", "100.2", "100.5", "100.8", "101"});
}

}  // namespace geosft::test::test_colour_map
