// SPDX-License-Identifier: Apache-2.0
// Documents as bytes, for the comparison of trainings.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>

namespace geosft::bench {

struct ByteDocuments {
  at::Tensor bytes;   // int64 [count, n], 0 … 255
  at::Tensor labels;  // int64 [count]
};

// Reads `count` documents of exactly n bytes from lines "label TAB … TAB text" with labels 0 and 1: texts of one label
// are concatenated, and the labels alternate. Throws DataError naming file and line for another format or too little
// text.
ByteDocuments read_documents(const std::filesystem::path& file, int64_t count, int64_t n);

}  // namespace geosft::bench
