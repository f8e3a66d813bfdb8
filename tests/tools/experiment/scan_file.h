// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test {

// So many random points without normals, as binary PLY.
inline void write_scan(const std::filesystem::path& file, int64_t count) {
  std::string ply = "ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(count) +
                    "\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
  const size_t header = ply.size(), bytes = 12 * static_cast<size_t>(count);
  ply.resize(header + bytes);
  const at::Tensor points = at::randn({count, 3}, generator(4));
  std::memcpy(ply.data() + header, points.const_data_ptr<float>(), bytes);
  write_text(file, ply);
}

}  // namespace geosft::test
