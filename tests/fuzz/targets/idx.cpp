// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

std::string idx_file(const std::vector<uint32_t>& header, const std::string& bytes) {
  std::string file;
  for (const uint32_t word : header) file += test::raw(word, /*big_endian=*/true);
  return file + bytes;
}

const Registration idx({"idx",
                        of_folder({"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                   "t10k-labels-idx1-ubyte"},
                                  [](const auto& folder) { read_idx_images(folder); }),
                        [] {
                          return Inputs{joined({idx_file({2051, 2, 1, 3}, "abcdef"), idx_file({2049, 2}, "\x02\x01"),
                                                idx_file({2051, 1, 1, 3}, "ghi"), idx_file({2049, 1}, "\x01")})};
                        }});

}  // namespace
}  // namespace geosft::fuzz
