// SPDX-License-Identifier: Apache-2.0
// Saves and loads named tensors and texts.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <map>
#include <string>

namespace geosft {

struct Checkpoint {
  std::map<std::string, at::Tensor> tensors;  // dense, of any floating, complex, integer or boolean dtype
  std::map<std::string, std::string> texts;   // any bytes
};

// The file: "GEOSFT checkpoint 1\n", a line with the sizes of header and data in bytes, the header (a line an entry:
// "tensor NAME DTYPE SIZES…" or "text NAME BYTES", names in percent-encoding), the data of all entries in that order
// (little endian, each begun at a multiple of 64 bytes), and the CRC-32 of all that, 4 bytes. Nothing in it is
// executed. Written to a temporary file first: on an error, which is a DataError with the system's reason, the old file
// remains. Throws c10::Error for a tensor that cannot be stored (undefined, sparse, quantized).
void save_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

// Tensors come back on the CPU, contiguous. Throws DataError for a file that is absent, foreign, truncated, damaged, or
// of a newer version.
Checkpoint load_checkpoint(const std::filesystem::path& file);

}  // namespace geosft
