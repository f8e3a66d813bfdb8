// SPDX-License-Identifier: Apache-2.0
#include "data/formats/compression.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// One member that stores its bytes as they are.
std::string stored(const std::string& text, uint32_t checksum) {
  const auto size = static_cast<uint16_t>(text.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11) + test::raw(size) +
         test::raw(static_cast<uint16_t>(~size)) + text + test::raw(checksum) + test::raw(uint32_t{size});
}

const Registration gz({"gz", [](const std::string& input) { gunzipped(input, "input"); },
                       [] {
                         const std::string member = stored("abc", 0x352441c2);
                         return Inputs{"plain", member, member + member};
                       }});

}  // namespace
}  // namespace geosft::fuzz
