// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_byte_texts {

TEST_CASE("texts of a table become bytes with classes", "[byte_texts]") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_byte_texts(folder.path()));
  write_text(folder / "set_train.tsv", "1\ta\tH\xc3\xa9\n0\tb\tx # y\tz\n\n");
  write_text(folder / "set_test.tsv", "0\tc\tq\r\n");
  CHECK(is_byte_texts(folder.path()));
  const PackedItems packed = read_byte_texts(folder.path());
  CHECK(packed.schema.output_names == std::vector<std::string>{"0", "1"});
  CHECK(packed.schema.node_vocabulary == std::vector<int64_t>{256});
  require_equal(packed.graphs.ptr, at::tensor({0, 3, 10, 11}, at::kLong), "ptr");
  require_equal(packed.node_categories.slice(0, 0, 3).squeeze(1), at::tensor({72, 195, 169}, at::kByte), "bytes");
  require_equal(packed.target, at::tensor({1, 0, 0}, at::kLong), "target");
  CHECK(packed.split->test == std::vector<int64_t>{2});
  const PackedItems shorter = read_byte_texts(folder.path(), 2);
  require_equal(shorter.graphs.ptr, at::tensor({0, 2, 4, 5}, at::kLong), "ptr");
  require_equal(shorter.node_categories.squeeze(1), at::tensor({72, 195, 120, 32, 113}, at::kByte), "shorter bytes");
}

TEST_CASE("texts of folders become bytes with classes", "[byte_texts]") {
  const TemporaryFolder folder;
  for (const char* file : {"train/pos/1_9.txt", "train/neg/0_2.txt", "train/neg/2_1.txt", "test/pos/0_8.txt"}) {
    write_text(folder / file, file);
  }
  write_text(folder / "train/unsup/0_0.txt", "nothing");
  CHECK(is_byte_texts(folder.path()));
  const PackedItems packed = read_byte_texts(folder.path());
  CHECK(packed.schema.output_names == std::vector<std::string>{"neg", "pos"});
  require_equal(packed.target, at::tensor({0, 0, 1, 1}, at::kLong), "target");
  CHECK(packed.split->train == std::vector<int64_t>{0, 1, 2});
}

TEST_CASE("an empty text of a table is one blank, with a warning", "[byte_texts]") {
  const TemporaryFolder folder;
  write_text(folder / "s_train.tsv",
             "\xEF\xBB\xBF"
             "0\ta\tx\n1\tb\t\r\n");
  write_text(folder / "s_test.tsv", "1\tc\t \n0\td\ty\n");
  const PackedItems packed = read_byte_texts(folder.path());
  require_equal(packed.graphs.ptr, at::tensor({0, 1, 2, 3, 4}, at::kLong), "ptr");
  require_equal(packed.node_categories.squeeze(1), at::tensor({120, 32, 32, 121}, at::kByte), "bytes");
  CHECK(packed.schema.output_names == std::vector<std::string>{"0", "1"});
  REQUIRE(packed.warnings.size() == 1);
  CHECK_THAT(packed.warnings[0], Catch::Contains("2 empty texts"));
}

TEST_CASE("a series in the place of texts is refused, texts of numbers are not", "[byte_texts]") {
  const TemporaryFolder folder;
  write_text(folder / "s_test.tsv", "1\t7\t3\n");
  write_text(folder / "s_train.tsv", "1\t0.5\t-2.5\t3e1\n0\t1\t2\t3\n");
  require_error([&] { read_byte_texts(folder.path()); }, {"s_train.tsv:1", "NAME_TRAIN.tsv", "4 numbers"});
  write_text(folder / "s_train.tsv", "1\t7\t3 4\n0\t1\t2\t3\tx\n");
  CHECK(read_byte_texts(folder.path()).size() == 3);
}

TEST_CASE("a header of a table of texts is refused, a class of that name is not", "[byte_texts]") {
  const TemporaryFolder folder;
  write_text(folder / "s_test.tsv", "pos\t7\ta\n");
  write_text(folder / "s_train.tsv", "Label\tid\ttext\npos\t1\ta\nneg\t2\tb\n");
  require_error([&] { read_byte_texts(folder.path()); },
                {"s_train.tsv:1", "from the first line on", "a header, 'Label'"});
  write_text(folder / "s_train.tsv", "target\t0\ttext\npos\t1\ta\ntarget\t2\tb\n");
  CHECK(read_byte_texts(folder.path()).size() == 4);
}

TEST_CASE("a text for prediction is a file of its own", "[byte_texts]") {
  const TemporaryFolder folder;
  write_text(folder / "a.txt", "Hi!");
  write_text(folder / "b.TXT", "");
  const PackedItems text = read_unlabelled_text(folder / "a.txt");
  CHECK(text.size() == 1);
  CHECK(text.schema.node_vocabulary == std::vector<int64_t>{256});
  require_equal(text.node_categories.squeeze(1).to(at::kLong), at::tensor({'H', 'i', '!'}, at::kLong), "bytes");
  CHECK(has_text_ending(folder / "b.TXT"));
  require_error([&] { read_unlabelled_text(folder / "b.TXT"); }, {"b.TXT", "a text", "an empty file"});
}

TEST_CASE("broken texts are refused", "[byte_texts]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& train, const std::string& test, const std::vector<std::string>& words) {
    write_text(folder / "s_train.tsv", train);
    write_text(folder / "s_test.tsv", test);
    require_error([&] { read_byte_texts(folder.path()); }, words);
  };
  refused("0\ta\tx\n1 b\n", "0\ta\tx\n", {"s_train.tsv:2", "label<TAB>id<TAB>text"});
  refused("0\ta\tx\n\ta\tx\n", "0\ta\tx\n", {"s_train.tsv:2", "a label", "none"});
  refused("0\ta\tx\n", "2\ta\tx\n", {"test split", "'2'"});
  refused("", "0\ta\tx\n", {"texts of the train split"});
  refused("0\ta\tx\n", "", {"texts of the test split", "none"});
  write_text(folder / "other_train.tsv", "0\ta\tx\n");
  require_error([&] { read_byte_texts(folder.path()); }, {"one file *_train.tsv"});
  const TemporaryFolder empty;
  write_text(empty / "train/pos/0.txt", "");
  require_error([&] { read_byte_texts(empty.path()); }, {"0.txt", "empty"});
  write_text(empty / "train/pos/0.txt", "a text");
  require_error([&] { read_byte_texts(empty.path()); }, {"texts of the test split", "none"});
}

TEST_CASE("the IMDb sample is read", "[byte_texts]") {
  const std::filesystem::path folder = real_data("imdb");
  if (folder.empty()) return;
  const PackedItems packed = read_byte_texts(folder);
  CHECK(packed.split->train.size() == 4000);
  CHECK(packed.split->test.size() == 4000);
  CHECK(at::bincount(packed.target).equal(at::tensor({4000, 4000}, at::kLong)));
}

}  // namespace geosft::test::test_byte_texts
