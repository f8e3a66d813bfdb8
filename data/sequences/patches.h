// SPDX-License-Identifier: Apache-2.0
// Groups the steps of sequences, or the pixels of images, into patches: fewer and larger tokens.
#pragma once

#include "data/packed_items.h"

namespace geosft {

// Converts images whose nodes are pixels (grid_height x grid_width, only node_values) to one node per side x side
// patch, in row-major order, with the pixel values of the patch concatenated. A linear layer on them is a convolution
// with kernel and stride `side`. side >= 1 must divide both sizes.
PackedItems image_patches(const PackedItems& images, int64_t side);

// Converts series (only node_values, no edges) to one node per `steps` >= 1 steps, with their values concatenated. If
// the length is not a multiple of `steps`, the last step is repeated.
PackedItems series_patches(const PackedItems& series, int64_t steps);

}  // namespace geosft
