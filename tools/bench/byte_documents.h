// SPDX-License-Identifier: Apache-2.0
// Text as bytes, for trainings that are compared.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>

namespace geosft::bench {

struct ByteDocuments {
  at::Tensor bytes;   // int64 [count, n], 0 … 255
  at::Tensor labels;  // int64 [count]
};

// `count` documents of exactly n bytes from lines "label TAB … TAB text" with labels 0 and 1: texts of one label one
// after the other, labels in turns. Throws DataError naming file and line where it is not of that form, and where there
// is too little text.
ByteDocuments read_documents(const std::filesystem::path& file, int64_t count, int64_t n);

}  // namespace geosft::bench
