// SPDX-License-Identifier: Apache-2.0
#include "data/formats/png.h"

#include <catch2/catch.hpp>

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

}  // namespace geosft::test::test_png
