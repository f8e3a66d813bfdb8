// SPDX-License-Identifier: Apache-2.0
// The binary form of CIFAR-10, as sequences of grey pixels (the image task of the Long Range Arena).
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// A folder with data_batch_1.bin … as many as there are, and test_batch.bin: records of a label and 3 x 32 x 32 bytes,
// red, green, blue. Pixels row by row, 0.299 red + 0.587 green + 0.114 blue from 0 to 1, one value each. Classes are
// the lines of batches.meta.txt where it is there, else "0" … "9". Throws DataError naming the file for one that does
// not consist of whole records, and for labels above 9.
PackedItems read_cifar_images(const std::filesystem::path& folder);
bool is_cifar_images(const std::filesystem::path& folder);

}  // namespace geosft
