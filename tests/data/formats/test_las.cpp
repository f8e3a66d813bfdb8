// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>
#include <limits>

#include "data/data_error.h"
#include "tests/data/formats/las_bytes.h"
#include "tests/support.h"

namespace geosft::test::test_las {

TEST_CASE("LAS: every version and point data record format, in double precision") {
  const at::Tensor expected =
      at::tensor({500000.0, 4000000.0, 100.0, 500001.0, 3999998.0, 103.0}, at::kDouble).view({2, 3});
  for (int minor = 0; minor <= 4; ++minor) {
    for (int format = 0; format <= 10; ++format) {
      INFO("1." << minor << " format " << format);
      LasExample example;
      example.minor = minor;
      example.format = format;
      if (minor < 4 && format > 5) continue;
      const FileShape shape = read_las(las_bytes(example), "a.las");
      test::require_close(shape.mesh.vertices, expected, 1e-9, "points");
      REQUIRE_FALSE(shape.is_mesh());
      REQUIRE_FALSE(shape.normals.defined());
    }
  }
  LasExample example;
  example.record = 99;
  test::require_close(read_las(las_bytes(example) + "trailing bytes", "a.las").mesh.vertices, expected, 1e-9, "points");
  example.points = {{std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min(), 1}};
  example.scale = 0.001;
  const at::Tensor far = read_las(las_bytes(example), "a.las").mesh.vertices[0];
  REQUIRE(far[0].item<double>() == Approx(2147483.647 + 500000).epsilon(1e-12));
  REQUIRE(far[2].item<double>() == Approx(100.001).epsilon(1e-12));
}

TEST_CASE("LAS: the classification is the label, 5 bits of a byte before format 6 and a byte from it on") {
  for (const int format : {0, 1, 5, 6, 8, 10}) {
    INFO("format " << format);
    LasExample example;
    example.minor = 4;
    example.format = format;
    std::string bytes = las_bytes(example);
    const size_t data = 375 + 10, record = (bytes.size() - data) / 2, at = data + (format < 6 ? 15 : 16);
    overwrite(bytes, at, raw(static_cast<uint8_t>(format < 6 ? 0x86 : 6)));  // a withheld point
    overwrite(bytes, at + record, raw(static_cast<uint8_t>(format < 6 ? 0x1F : 200)));
    const FileShape shape = read_las(bytes, "a.las");
    test::require_equal(shape.labels, at::tensor({6.0, format < 6 ? 31.0 : 200.0}, at::kDouble), "labels");
    CHECK(shape.names.back() == "classification");
  }
}

TEST_CASE("LAS: broken and compressed files") {
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_las(bytes, "a.las").require_finite(); }, words);
  };
  const std::string whole = las_bytes({});
  for (size_t size = 0; size < whole.size(); ++size)
    REQUIRE_THROWS_AS(read_las(whole.substr(0, size), "a.las"), DataError);
  const auto changed = [&](size_t at, const std::string& values) {
    std::string bytes = whole;
    overwrite(bytes, at, values);
    return bytes;
  };
  fails("LASX", {"a.las", "LASF", "something else"});
  fails("LASF", {"a.las", "4 bytes"});
  fails(changed(24, "\2"), {"LAS 1.0 to 1.4", "LAS 2.2"});
  fails(changed(25, "\5"), {"LAS 1.5"});
  fails(changed(104, "\x81"), {"compressed", "LAZ", "pdal translate"});
  fails(changed(104, "\x0B"), {"formats 0 to 10", "11"});
  fails(changed(105, raw(uint16_t{20})), {"28 bytes or more for format 1", "20"});
  fails(changed(107, raw(uint32_t{0})), {"at least one point"});
  fails(changed(107, raw(uint32_t{4000000000})), {"4000000000 points of 28 bytes"});
  fails(changed(96, raw(uint32_t{4000000000})), {"from byte 4000000000"});
  fails(changed(96, raw(uint32_t{3})), {"from byte 3"});
  fails(changed(131, raw(0.0)), {"a scale other than 0"});
  fails(changed(155, raw(std::numeric_limits<double>::quiet_NaN())), {"an offset", "nan"});
}

}  // namespace geosft::test::test_las
