// SPDX-License-Identifier: Apache-2.0
// Pathfinder (Linsley et al., 2018, as the Long Range Arena has it): two dots among dashed curves, and whether one
// curve connects them.
#pragma once

#include <ATen/core/Generator.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/formats/png.h"
#include "data/packed_items.h"

namespace geosft {

// Lengths are pixels of a picture of 32 x 32, and grow with its side.
struct PathfinderOptions {
  int64_t side = 32;
  int64_t dashes = 14;            // of each of the two long curves
  int64_t distractors = 6;        // short curves beside them
  int64_t distractor_dashes = 4;  // of each of these
};

using PathfinderPoint = std::array<double, 2>;

struct PathfinderItem {
  GreyImage image;
  bool connected = false;
  // The ends of the dashes with the gaps behind them, the two long curves first: dashes + 1 points a curve.
  std::vector<std::vector<PathfinderPoint>> curves;
  std::array<PathfinderPoint, 2> dots;  // both ends of the first curve, or one of each of the first two
};

// Smooth dashed curves, drawn at random until they keep their distance from each other and from themselves. A function
// of the options and the state of the generator. Throws an error where so many do not find a place.
PathfinderItem generate_pathfinder(const PathfinderOptions& options, bool connected, at::Generator& generator);

// `count` pictures, every other one connected, in the layout of the Long Range Arena: FOLDER/imgs/N/sample_I.png and a
// line "imgs/N sample_I.png I LABEL" each in FOLDER/metadata/N.npy, a thousand a file.
void write_pathfinder(const std::filesystem::path& folder, const PathfinderOptions& options, int64_t count,
                      uint64_t seed);

// Reads that layout: pictures as sequences of their pixels, 0 to 1, classes "apart" and "connected", in the order of
// the files' numbers, the first 80 % for training, then 10 % for validation, the rest for the test. Throws DataError
// naming the file for lines of another form, pictures of different sizes, and what is no PNG.
PackedItems read_pathfinder(const std::filesystem::path& folder);
bool is_pathfinder(const std::filesystem::path& folder);

}  // namespace geosft
