// SPDX-License-Identifier: Apache-2.0
// Generates and reads Pathfinder images (Linsley et al., 2018, as in the Long Range Arena): two dots among dashed
// curves; the class is whether one curve connects them.
#pragma once

#include <ATen/core/Generator.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/formats/png.h"
#include "data/packed_items.h"

namespace geosft {

// Lengths are in pixels of a 32 x 32 image and scale with `side`.
struct PathfinderOptions {
  int64_t side = 32;
  int64_t dashes = 14;            // per long curve, of which there are two
  int64_t distractors = 6;        // additional short curves
  int64_t distractor_dashes = 4;  // per distractor
};

using PathfinderPoint = std::array<double, 2>;

struct PathfinderItem {
  GreyImage image;
  bool connected = false;
  // Start points of the dashes and the end of the last gap: dashes + 1 points per curve; the two long curves come
  // first.
  std::vector<std::vector<PathfinderPoint>> curves;
  std::array<PathfinderPoint, 2> dots;  // both ends of the first curve, or one end of each of the first two
};

// Samples smooth dashed curves at random until they keep a minimum distance from each other and themselves. The result
// depends only on the options and the generator state. Throws an error if the curves do not fit.
PathfinderItem generate_pathfinder(const PathfinderOptions& options, bool connected, at::Generator& generator);

// Writes `count` images, every other one connected, in the layout of the Long Range Arena: FOLDER/imgs/N/sample_I.png,
// with one line "imgs/N sample_I.png I LABEL" each in FOLDER/metadata/N.npy, 1,000 per file.
void write_pathfinder(const std::filesystem::path& folder, const PathfinderOptions& options, int64_t count,
                      uint64_t seed);

// Reads that layout: images as sequences of pixels, 0 to 1, with classes "apart" and "connected", ordered by file
// number. The first 80 % are for training, the next 10 % for validation, the rest for testing. Throws DataError, naming
// the file, for malformed lines, images of different sizes, and files that are not PNG.
PackedItems read_pathfinder(const std::filesystem::path& folder);
bool is_pathfinder(const std::filesystem::path& folder);

}  // namespace geosft
