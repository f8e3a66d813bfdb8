// SPDX-License-Identifier: Apache-2.0
// Reads the binary format of CIFAR-10 as sequences of grey pixels (the image task of the Long Range Arena).
#pragma once

#include <filesystem>

#include "data/packed_items.h"

namespace geosft {

// Reads data_batch_1.bin, data_batch_2.bin, … and test_batch.bin from a folder: records of a label and 3 x 32 x 32
// bytes, red, green, blue. Pixels are in row-major order, with the value 0.299 red + 0.587 green + 0.114 blue, scaled
// to 0 … 1. Classes are the lines of batches.meta.txt if it exists, otherwise "0" … "9". Throws DataError, naming the
// file, for incomplete records and labels above 9.
PackedItems read_cifar_images(const std::filesystem::path& folder);
bool is_cifar_images(const std::filesystem::path& folder);

}  // namespace geosft
