// SPDX-License-Identifier: Apache-2.0
// Groups the steps of sequences, or the pixels of images, into patches: fewer and larger tokens.
#pragma once

#include "data/packed_items.h"

namespace geosft {

// Images whose pixels are nodes (grid_height x grid_width in their schema, node_values alone) with a node for each
// square of side x side pixels, row by row, holding the values of its pixels one after the other. A linear map of them
// is a convolution with that kernel and stride. side >= 1 must divide both sizes.
PackedItems image_patches(const PackedItems& images, int64_t side);

// Series (node_values alone, without edges) with a node for every `steps` >= 1 steps, holding their values one after
// the other. Where the length is no multiple of `steps` the last step is repeated.
PackedItems series_patches(const PackedItems& series, int64_t steps);

}  // namespace geosft
