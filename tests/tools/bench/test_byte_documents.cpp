// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/byte_documents.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::bench::test::test_byte_documents {

TEST_CASE("documents are the texts of one label one after the other", "[bench]") {
  const geosft::test::TemporaryFolder folder;
  const auto file = folder / "texts.tsv";
  geosft::test::write_text(file,
                           "0\t1_2\tabc\n1\tx\ty\t\xff"
                           "Z\n0\t\tdef\n1\tQRST\n");
  const ByteDocuments documents = read_documents(file, 4, 3);
  geosft::test::require_equal(documents.labels, at::tensor({0, 1, 0, 1}, at::kLong), "labels");
  geosft::test::require_equal(documents.bytes,
                              at::tensor({97, 98, 99, 255, 90, 10, 10, 100, 101, 81, 82, 83}, at::kLong).view({4, 3}),
                              "bytes");
}

TEST_CASE("a file of texts that is broken or too short is refused", "[bench]") {
  const geosft::test::TemporaryFolder folder;
  const auto file = folder / "texts.tsv";
  geosft::test::write_text(file, "0\tgood\n2\tbad\n");
  geosft::test::require_error([&] { read_documents(file, 2, 2); }, {"texts.tsv:2", "0 or 1", "2\tbad"});
  geosft::test::write_text(file, "0\tlong enough\n1\tno\n");
  geosft::test::require_error([&] { read_documents(file, 2, 5); },
                              {"texts.tsv", "2 documents of 5 bytes", "3 bytes of label 1"});
  geosft::test::require_error([&] { read_documents(folder / "absent.tsv", 2, 5); }, {"absent.tsv"});
}

}  // namespace geosft::bench::test::test_byte_documents
