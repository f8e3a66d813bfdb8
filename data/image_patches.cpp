// SPDX-License-Identifier: Apache-2.0
#include "data/image_patches.h"

#include "data/sequence_dataset.h"

namespace geosft {

PackedGraphs image_patches(const PackedGraphs& images, int64_t side) {
  const GraphSchema& schema = images.schema;
  TORCH_CHECK(schema.grid_height > 0 && schema.node_vocabulary.empty(), "images must have a grid of values alone");
  TORCH_CHECK(side >= 1 && schema.grid_height % side == 0 && schema.grid_width % side == 0,
              "side must divide the sizes of the images, ", schema.grid_height, " and ", schema.grid_width, ", got ",
              side);
  const int64_t high = schema.grid_height / side, wide = schema.grid_width / side,
                values = side * side * schema.node_values;
  PackedGraphs patches =
      packed_sequences(at::arange(images.size() + 1, at::kLong) * (high * wide), images.target, schema.output_names);
  patches.node_values =
      images.node_values.view({-1, high, side, wide, side, schema.node_values}).transpose(2, 3).reshape({-1, values});
  patches.schema.node_values = values;
  patches.schema.grid_height = high;
  patches.schema.grid_width = wide;
  patches.split = images.split;
  return patches;
}

}  // namespace geosft
