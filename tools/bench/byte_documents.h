// SPDX-License-Identifier: Apache-2.0
// Reads text documents as byte sequences.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>

namespace geosft::bench {

struct ByteDocuments {
  at::Tensor bytes;   // int64 [count, n], 0 … 255
  at::Tensor labels;  // int64 [count]
};

// Reads `count` documents of exactly n bytes from lines "label TAB … TAB text" with labels 0 and 1: the texts of each
// label are concatenated and cut, and the labels alternate. Throws DataError naming file and line for an invalid format
// or too little text.
ByteDocuments read_documents(const std::filesystem::path& file, int64_t count, int64_t n);

}  // namespace geosft::bench
