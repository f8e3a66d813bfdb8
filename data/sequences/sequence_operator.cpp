// SPDX-License-Identifier: Apache-2.0
// Reads sequences in Python: the operator geosft::_read_sequences, which is there once this library has been loaded.
#include <string>
#include <tuple>
#include <vector>

#include "data/data_error.h"
#include "data/sequences/sequence_dataset.h"
#include "geometry/operators.h"

namespace geosft {
namespace {

// Groups pixels or steps into patches of `size` > 1.
PackedItems patches_of(const PackedItems& sequences, int64_t size, const std::string& source) {
  const ItemSchema& schema = sequences.schema;
  if (schema.node_values == 0) {
    throw DataError(source, "images or series of numbers, for patch_size " + std::to_string(size), "texts");
  }
  if (schema.grid_height == 0) return series_patches(sequences, size);
  if (schema.grid_height % size != 0 || schema.grid_width % size != 0) {
    throw DataError(source, "images whose height and width patch_size " + std::to_string(size) + " divides",
                    std::to_string(schema.grid_height) + " x " + std::to_string(schema.grid_width));
  }
  return image_patches(sequences, size);
}

// Reads the series of a file, whose labels are ignored, or all sequences of a dataset. Returns the offsets ptr, the
// categories and the values of the steps (an empty tensor of one dimension where they have none); the numbers
// node_values, documents, grid_height and grid_width of the schema, followed by its node_vocabulary; warnings.
std::tuple<std::vector<at::Tensor>, std::vector<int64_t>, std::vector<std::string>> read_sequences(std::string source,
                                                                                                   int64_t patch_size,
                                                                                                   int64_t max_length) {
  TORCH_CHECK(patch_size >= 1, "patch_size must be at least 1, got ", patch_size);
  TORCH_CHECK(max_length >= 0, "max_length must be at least 0, got ", max_length);
  PackedItems packed = std::filesystem::is_directory(source) ? open_sequence_dataset(source, max_length)
                                                             : read_unlabelled_series(source);
  if (patch_size > 1) packed = patches_of(packed, patch_size, source);
  if (max_length > 0) packed = truncated(packed, max_length);
  std::vector<at::Tensor> tensors{packed.graphs.ptr, packed.node_categories, packed.node_values};
  for (at::Tensor& tensor : tensors) {
    if (!tensor.defined()) tensor = at::empty({0});
  }
  const ItemSchema& schema = packed.schema;
  std::vector<int64_t> numbers{schema.node_values, schema.documents ? 1 : 0, schema.grid_height, schema.grid_width};
  numbers.insert(numbers.end(), schema.node_vocabulary.begin(), schema.node_vocabulary.end());
  return {tensors, numbers, packed.warnings};
}

GEOSFT_OPERATORS(m) {
  m.def("_read_sequences(str source, int patch_size, int max_length) -> (Tensor[], int[], str[])");
}

GEOSFT_KERNELS(CompositeImplicitAutograd, m) {
  m.impl("_read_sequences", read_sequences);
}

}  // namespace
}  // namespace geosft
