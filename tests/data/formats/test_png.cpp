// SPDX-License-Identifier: Apache-2.0
#include "data/formats/png.h"

#include <zlib.h>

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_png {

TEST_CASE("grey pictures come back from their PNG", "[png]") {
  const GreyImage image{2, 3, {0, 255, 7, 8, 9, 200}};
  const std::string bytes = png_bytes(image);
  const GreyImage read = read_png(bytes, "x.png");
  CHECK(read.height == 2);
  CHECK(read.width == 3);
  CHECK(read.pixels == image.pixels);
  for (const size_t kept : {size_t{0}, size_t{9}, bytes.size() / 2}) {
    require_error([&] { read_png(bytes.substr(0, kept), "x.png"); }, {"x.png", "PNG"});
  }
  std::string huge = bytes;
  huge[16] = huge[20] = '\x01';  // the width and height of the header, whose checksum is then wrong too
  require_error([&] { read_png(huge, "x.png"); }, {"x.png"});
  require_error([&] { png_bytes({0, 0, {}}); }, {"no PNG"});
}

TEST_CASE("a picture that its bytes cannot hold is not allocated", "[png]") {
  std::string bytes = png_bytes({2, 3, {0, 255, 7, 8, 9, 200}}).substr(0, 33);  // the header alone
  bytes.replace(16, 8, std::string("\0\0\x20\0\0\0\x20\0", 8));                 // 8192 x 8192
  const auto checksum = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()) + 12, 17));
  bytes.replace(29, 4, raw(checksum, /*big_endian=*/true));
  bytes += raw(uint32_t{0}, true) + "IDAT" + raw(uint32_t{0x35af061e}, true);
  require_error([&] { read_png(bytes, "x.png"); }, {"x.png", "at most", "pixels in 45 bytes", "8192 x 8192"});
}

}  // namespace geosft::test::test_png
