// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch.hpp>

#include "data/sequences/sequence_dataset.h"
#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_document_pairs {
namespace {

const std::string two_pairs = "1.0\tP1\tP2\tab\tc # d\n0.0\tP1\tP3\tab\t\xc3\xa9\n\n";

}  // namespace

TEST_CASE("pairs of documents become bytes of a first and a second one", "[document_pairs]") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_document_pairs(folder.path()));
  write_text(folder / "aan.train.tsv", two_pairs);
  write_text(folder / "aan.test.tsv", "0.0\tP4\tP5\tx\ty\r\n");
  CHECK(is_document_pairs(folder.path()));
  CHECK(is_sequence_dataset(folder.path()));
  PackedItems packed = open_sequence_dataset(folder.path());
  CHECK(packed.schema.output_names == std::vector<std::string>{"0.0", "1.0"});
  CHECK(packed.schema.documents);
  require_equal(packed.graphs.ptr, at::tensor({0, 7, 11, 13}, at::kLong), "ptr");
  require_equal(packed.node_categories.select(1, 0).slice(0, 7, 11), at::tensor({97, 98, 195, 169}, at::kByte),
                "bytes");
  require_equal(packed.node_categories.select(1, 1).slice(0, 0, 7), at::tensor({0, 0, 1, 1, 1, 1, 1}, at::kByte),
                "documents");
  require_equal(packed.target, at::tensor({1, 0, 0}, at::kLong), "target");
  CHECK(packed.split->validation.empty());
  write_text(folder / "aan.eval.tsv", two_pairs);
  packed = read_document_pairs(folder.path());
  CHECK(packed.split->validation == std::vector<int64_t>{2, 3});
  CHECK(packed.split->test == std::vector<int64_t>{4});
}

TEST_CASE("each of two documents is shortened", "[document_pairs]") {
  const TemporaryFolder folder;
  write_text(folder / "aan.train.tsv", two_pairs);
  write_text(folder / "aan.test.tsv", "0.0\tP4\tP5\tx\ty\n");
  const PackedItems shorter = truncated(read_document_pairs(folder.path()), 1);
  require_equal(shorter.graphs.ptr, at::tensor({0, 2, 4, 6}, at::kLong), "ptr");
  require_equal(shorter.node_categories.slice(0, 0, 2), at::tensor({97, 0, 99, 1}, at::kByte).view({2, 2}),
                "first pair");
  const PackedItems read_shorter = open_sequence_dataset(folder.path(), 1);
  require_equal(read_shorter.graphs.ptr, shorter.graphs.ptr, "ptr, shortened while it is read");
  require_equal(read_shorter.node_categories, shorter.node_categories, "bytes, shortened while they are read");
}

TEST_CASE("an empty document is one blank, with a warning", "[document_pairs]") {
  const TemporaryFolder folder;
  write_text(folder / "aan.train.tsv", two_pairs + "1.0\tP1\tP2\t\tab\n");
  write_text(folder / "aan.test.tsv", "0.0\tP4\tP5\tx\t\n");
  const PackedItems packed = read_document_pairs(folder.path());
  require_equal(packed.graphs.ptr, at::tensor({0, 7, 11, 14, 16}, at::kLong), "ptr");
  require_equal(packed.node_categories.slice(0, 11, 16),
                at::tensor({32, 0, 97, 1, 98, 1, 120, 0, 32, 1}, at::kByte).view({5, 2}), "bytes");
  REQUIRE(packed.warnings.size() == 1);
  CHECK_THAT(packed.warnings[0], Catch::Contains("2 empty texts"));
}

TEST_CASE("broken pairs of documents are refused", "[document_pairs]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& train, const std::string& test, const std::vector<std::string>& words) {
    write_text(folder / "aan.train.tsv", train);
    write_text(folder / "aan.test.tsv", test);
    require_error([&] { read_document_pairs(folder.path()); }, words);
  };
  refused("1\tP1\tP2\tab\n", two_pairs, {"aan.train.tsv:1", "3 tabs"});
  refused(two_pairs, "\tP1\tP2\tab\tc\n", {"aan.test.tsv:1", "label<TAB>id"});
  refused(two_pairs, "2\tP1\tP2\tab\tc\n", {"labels of the training split", "'2'"});
  refused("\n", two_pairs, {"aan.train.tsv", "none"});
  std::filesystem::remove(folder / "aan.test.tsv");
  write_text(folder / "aan.train.tsv", two_pairs);
  require_error([&] { read_document_pairs(folder.path()); }, {"aan.test.tsv"});
  write_text(folder / "other.train.tsv", two_pairs);
  require_error([&] { is_document_pairs(folder.path()); }, {"one file *.train.tsv", "several"});
}

}  // namespace geosft::test::test_document_pairs
