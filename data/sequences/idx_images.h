// SPDX-License-Identifier: Apache-2.0
// Grey images in the idx form of MNIST, as sequences of their pixels.
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// A folder with train-images-idx3-ubyte, train-labels-idx1-ubyte and the same of "test" or "t10k", each plain or .gz.
// Pixels row by row, 0 to 1, one value each; classes "0", "1", … up to the largest label of the training split. Throws
// DataError naming the file for another magic number, sizes that do not fit the file or each other, and labels that the
// training split does not have.
PackedItems read_idx_images(const std::filesystem::path& folder);
bool is_idx_images(const std::filesystem::path& folder);

}  // namespace geosft
