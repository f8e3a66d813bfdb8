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

// Writes a checkpoint. File format: "GEOSFT checkpoint 1\n", a line with the size of the header and of the file in
// bytes, the header (one line per entry: "tensor NAME DTYPE SIZES…" or "text NAME BYTES", names percent-encoded), the
// data of all entries in that order (little endian, each aligned to 64 bytes), and a 4-byte CRC-32 of all preceding
// bytes. Nothing in it is executed. The file is written to a temporary file first: on an error, which throws DataError
// with the system's reason, the old file remains. Throws c10::Error for a tensor that cannot be stored (undefined,
// sparse, quantized).
void save_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

// Returns contiguous CPU tensors. Throws DataError for a file that is absent, not a checkpoint, truncated, damaged, or
// of a newer version.
Checkpoint load_checkpoint(const std::filesystem::path& file);

}  // namespace geosft
