// SPDX-License-Identifier: Apache-2.0

#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

// Creates sequences with offsets `ptr` and node values `values` [N, …], copying the labels and metadata of `from`.
PackedItems with_values(const PackedItems& from, const at::Tensor& ptr, const at::Tensor& values) {
  PackedItems patches = packed_sequences(ptr, from.target, from.schema.output_names);
  patches.node_values = values;
  patches.schema.node_values = values.size(1);
  patches.schema.task = from.schema.task;
  patches.split = from.split;
  patches.warnings = from.warnings;
  return patches;
}

}  // namespace

PackedItems image_patches(const PackedItems& images, int64_t side) {
  const ItemSchema& schema = images.schema;
  TORCH_CHECK(schema.grid_height > 0 && schema.node_vocabulary.empty(), "images must have a grid of values alone");
  TORCH_CHECK(side >= 1 && schema.grid_height % side == 0 && schema.grid_width % side == 0,
              "side must divide the sizes of the images, ", schema.grid_height, " and ", schema.grid_width, ", got ",
              side);
  const int64_t high = schema.grid_height / side, wide = schema.grid_width / side,
                values = side * side * schema.node_values;
  PackedItems patches = with_values(
      images, at::arange(images.size() + 1, at::kLong) * (high * wide),
      images.node_values.view({-1, high, side, wide, side, schema.node_values}).transpose(2, 3).reshape({-1, values}));
  patches.schema.grid_height = high;
  patches.schema.grid_width = wide;
  return patches;
}

PackedItems series_patches(const PackedItems& series, int64_t steps) {
  TORCH_CHECK(
      series.schema.node_values > 0 && series.schema.node_vocabulary.empty() && series.graphs.graph.edges() == 0,
      "series must have values alone");
  TORCH_CHECK(steps >= 1, "steps must be at least 1, got ", steps);
  const at::Tensor ptr = series.graphs.ptr;
  const at::Tensor counts = at::diff(ptr).add(steps - 1).div(steps, "floor");
  const at::Tensor offsets = at::cat({at::zeros({1}, at::kLong), counts.cumsum(0)});
  const at::Tensor item = at::repeat_interleave(counts);
  const at::Tensor place = at::arange(item.size(0), at::kLong) - offsets.index_select(0, item);
  const at::Tensor first = ptr.index_select(0, item) + place * steps, last = ptr.index_select(0, item + 1) - 1;
  const at::Tensor rows = at::minimum(first.unsqueeze(1) + at::arange(steps, at::kLong), last.unsqueeze(1));
  const at::Tensor values = series.node_values.index_select(0, rows.flatten());
  return with_values(series, offsets, values.reshape({item.size(0), steps * series.schema.node_values}));
}

}  // namespace geosft
