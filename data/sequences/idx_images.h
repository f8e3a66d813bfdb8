// SPDX-License-Identifier: Apache-2.0
// Reads grey images in the idx format of MNIST as sequences of pixels.
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte and the same for "test" or "t10k" from a folder, each plain or
// .gz. Pixels are in row-major order, one value each from 0 to 1; classes are "0", "1", … up to the largest label of
// the training split. Throws DataError, naming the file, for a wrong magic number, inconsistent sizes, and labels that
// the training split does not have.
PackedItems read_idx_images(const std::filesystem::path& folder);
bool is_idx_images(const std::filesystem::path& folder);

}  // namespace geosft
