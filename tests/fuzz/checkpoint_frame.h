// SPDX-License-Identifier: Apache-2.0
// Checkpoints whose sizes and checksum are right whatever they hold: so what lies behind them is read.
#pragma once

#include <zlib.h>

#include <string>

#include "tests/data/files.h"

namespace geosft::fuzz {

// The file for an input "HEADER<1E>DATA".
inline std::string framed(const std::string& input) {
  const size_t end = std::min(input.find('\x1e'), input.size());
  const std::string header = input.substr(0, end), data = end < input.size() ? input.substr(end + 1) : "";
  std::string file;
  for (size_t pass = 0, total = 0; pass < 2; ++pass, total = file.size() + 4) {
    const std::string digits = std::to_string(total);
    file = "GEOSFT checkpoint 1\n" + std::to_string(header.size()) + " " + std::string(20 - digits.size(), ' ') +
           digits + "\n" + header + data;
  }
  return file + test::raw(static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(file.data()), file.size())));
}

// The input for a checkpoint's file.
inline std::string unframed(const std::string& file) {
  const size_t sizes = file.find('\n') + 1, header = file.find('\n', sizes) + 1, count = std::stoul(file.substr(sizes));
  return file.substr(header, count) + '\x1e' + file.substr(header + count, file.size() - header - count - 4);
}

}  // namespace geosft::fuzz
