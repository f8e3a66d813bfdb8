// SPDX-License-Identifier: Apache-2.0
#include "data/formats/compression.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_gz_file {
using test::require_error;

TEST_CASE("gzip files are unpacked, others read as they are") {
  const test::TemporaryFolder folder;
  std::string text;
  for (int64_t i = 0; i < 300000; ++i) text += std::to_string(i * 7919) + "\n";
  test::write_gz(folder / "a.gz", text);
  test::write_gz(folder / "empty.gz", "");
  test::write_text(folder / "plain.gz", "no gzip");
  CHECK(read_gz_file(folder / "a.gz") == text);
  CHECK(read_gz_file(folder / "empty.gz").empty());
  CHECK(read_gz_file(folder / "plain.gz") == "no gzip");
  CHECK(gunzipped("", "a").empty());
  const std::string packed = test::read_text(folder / "a.gz");
  CHECK(gunzipped(packed + packed, "a") == text + text);
}

TEST_CASE("damaged gzip files are refused by name") {
  const test::TemporaryFolder folder;
  test::write_gz(folder / "a.gz", std::string(10000, 'x') + "yz");
  const std::string whole = test::read_text(folder / "a.gz");
  for (size_t kept = 2; kept < whole.size(); ++kept) {
    require_error([&] { gunzipped(whole.substr(0, kept), "short.gz"); }, {"short.gz", "truncated"});
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 4;
  require_error([&] { gunzipped(damaged, "bad.gz"); }, {"bad.gz", "gzip"});
  require_error([&] { gunzipped(whole + "garbage", "bad.gz"); }, {"bad.gz", "damaged"});
  require_error([&] { read_gz_file(folder / "absent.gz"); }, {"absent.gz"});
}

TEST_CASE("a file is found plain or with .gz") {
  const test::TemporaryFolder folder;
  CHECK(file_or_gz(folder / "a.csv") == folder / "a.csv");
  test::write_gz(folder / "a.csv.gz", "1");
  CHECK(file_or_gz(folder / "a.csv") == folder / "a.csv.gz");
  test::write_text(folder / "a.csv", "1");
  CHECK(file_or_gz(folder / "a.csv") == folder / "a.csv");
}

TEST_CASE("a gzip bomb is refused") {
  const test::TemporaryFolder folder;
  test::write_gz(folder / "bomb.gz", std::string(size_t{300} << 20, '\0'));
  const auto packed = std::filesystem::file_size(folder / "bomb.gz");
  CHECK(packed < 400000);
  require_error([&] { read_gz_file(folder / "bomb.gz"); },
                {"bomb.gz", "at most " + std::to_string((256 << 20) + 100 * packed) + " bytes unpacked", "more"});
}

}  // namespace geosft::test::test_gz_file
