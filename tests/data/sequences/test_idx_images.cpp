// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "tests/data/files.h"
#include "tests/data/gz_files.h"
#include "tests/support.h"

namespace geosft::test::test_idx_images {
namespace {

std::string idx(std::vector<uint32_t> header, const std::string& bytes) {
  std::string text;
  for (const uint32_t word : header) text += raw(word, /*big_endian=*/true);
  return text + bytes;
}

void write_set(const TemporaryFolder& folder) {
  write_text(folder / "train-images-idx3-ubyte", idx({2051, 2, 1, 3}, std::string("\x00\xff\x33\x00\x00\xff", 6)));
  write_text(folder / "train-labels-idx1-ubyte", idx({2049, 2}, std::string("\x02\x00", 2)));
  write_text(folder / "t10k-images-idx3-ubyte", idx({2051, 1, 1, 3}, std::string("\x00\x00\x00", 3)));
  write_text(folder / "t10k-labels-idx1-ubyte", idx({2049, 1}, std::string("\x01", 1)));
}

}  // namespace

TEST_CASE("idx images become sequences of pixels", "[idx_images]") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_idx_images(folder.path()));
  write_set(folder);
  CHECK(is_idx_images(folder.path()));
  const PackedItems packed = read_idx_images(folder.path());
  require_equal(packed.graphs.ptr, at::tensor({0, 3, 6, 9}, at::kLong), "ptr");
  require_close(packed.node_values.slice(0, 0, 3).squeeze(1), at::tensor({0.0, 1.0, 0.2}, at::kFloat), 1e-6, "pixels");
  require_equal(packed.target, at::tensor({2, 0, 1}, at::kLong), "target");
  CHECK(packed.schema.output_names == std::vector<std::string>{"0", "1", "2"});
  CHECK(packed.split->train == std::vector<int64_t>{0, 1});
  CHECK(packed.split->test == std::vector<int64_t>{2});
}

TEST_CASE("idx files are read under the names with a dot, too", "[idx_images]") {
  const TemporaryFolder folder, dotted;
  write_set(folder);
  for (const char* name : {"train-images", "train-labels", "t10k-images", "t10k-labels"}) {
    const std::string kind = std::string(name).ends_with("images") ? "idx3-ubyte" : "idx1-ubyte";
    const std::string bytes = read_text(folder / (std::string(name) + "-" + kind));
    if (name[1] == 'r') write_text(dotted / (std::string(name) + "." + kind), bytes);
    if (name[1] != 'r') write_gz(dotted / (std::string(name) + "." + kind + ".gz"), bytes);
  }
  REQUIRE(is_idx_images(dotted.path()));
  require_equal(read_idx_images(dotted.path()).node_values, read_idx_images(folder.path()).node_values, "pixels");
}

TEST_CASE("broken idx files are refused by name", "[idx_images]") {
  const auto refused = [](const char* file, const std::string& bytes, const std::vector<std::string>& words) {
    const TemporaryFolder folder;
    write_set(folder);
    write_text(folder / file, bytes);
    require_error([&] { read_idx_images(folder.path()); }, words);
  };
  refused("train-images-idx3-ubyte", "\x01", {"train-images", "header"});
  refused("train-images-idx3-ubyte", "version https://git-lfs.github.com/spec/v1\n", {"an idx file", "Git LFS"});
  refused("train-images-idx3-ubyte", idx({2049, 2}, "ab"), {"train-images", "2051", "2049"});
  refused("train-images-idx3-ubyte", idx({2051, 2, 1, 3}, "abc"), {"train-images", "6 bytes", "3"});
  refused("train-images-idx3-ubyte", idx({2051, 4000000000U, 4000000000U, 4000000000U}, "abc"), {"sizes that fit"});
  refused("train-images-idx3-ubyte", idx({2051, 0, 1, 3}, ""), {"a label for each of the 0 images"});
  refused("train-labels-idx1-ubyte", idx({2049, 3}, "abc"), {"train-labels", "2 images", "3"});
  refused("t10k-labels-idx1-ubyte", idx({2049, 1}, "\x07"), {"target", "7"});
  refused("t10k-images-idx3-ubyte", idx({2051, 1, 3, 1}, "abc"), {"size of the training images"});
}

TEST_CASE("idx files packed by gzip are read, and refused by name where they are cut short", "[idx_images]") {
  const TemporaryFolder folder;
  write_set(folder);
  const at::Tensor pixels = read_idx_images(folder.path()).node_values;
  const auto plain = folder / "train-images-idx3-ubyte", packed = folder / "train-images-idx3-ubyte.gz";
  write_gz(packed, read_text(plain));
  std::filesystem::remove(plain);
  require_equal(read_idx_images(folder.path()).node_values, pixels, "pixels");
  const std::string whole = read_text(packed);
  for (const size_t kept : {size_t{2}, whole.size() / 2, whole.size() - 1}) {
    write_text(packed, whole.substr(0, kept));
    require_error([&] { read_idx_images(folder.path()); }, {"train-images-idx3-ubyte.gz", "truncated"});
  }
}

TEST_CASE("the form of MNIST is read from compressed files, by either name of the test set", "[idx_images]") {
  // Pictures of 28 x 28 bytes: digit d is a bar of d + 1 rows, in a grey of its own.
  const auto pictures = [](uint32_t count) {
    std::string pixels, labels;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t digit = i % 10;
      for (uint32_t row = 0; row < 28; ++row)
        pixels += std::string(28, row <= digit ? static_cast<char>(255 - 20 * digit) : '\0');
      labels += static_cast<char>(digit);
    }
    return std::pair(idx({2051, count, 28, 28}, pixels), idx({2049, count}, labels));
  };
  for (const std::string test_name : {"t10k", "test"}) {
    const TemporaryFolder folder;
    for (const auto& [name, count] : {std::pair(std::string("train"), 20U), std::pair(test_name, 10U)}) {
      const auto [images, labels] = pictures(count);
      write_gz(folder / (name + "-images-idx3-ubyte.gz"), images);
      write_gz(folder / (name + "-labels-idx1-ubyte.gz"), labels);
    }
    REQUIRE(is_idx_images(folder.path()));
    const PackedItems packed = read_idx_images(folder.path());
    CHECK((packed.split->train.size() == 20 && packed.split->test.size() == 10));
    CHECK(packed.schema.outputs() == 10);
    require_equal(packed.target, at::arange(30) % 10, "digits");
    const at::Tensor rows = packed.node_values.view({30, 28, 28}), digit = at::arange(30).view({30, 1, 1}) % 10;
    const at::Tensor expected = at::where(at::arange(28).view({1, 28, 1}) <= digit, (255 - 20 * digit) / 255.0, 0.0);
    require_close(rows, expected.expand({30, 28, 28}), 1e-6, "pixels");
  }
}

TEST_CASE("the MNIST sample is read from its compressed files", "[idx_images]") {
  const std::filesystem::path folder = real_data("mnist10k");
  if (folder.empty()) return;
  const PackedItems packed = read_idx_images(folder);
  CHECK(packed.split->train.size() == 8000);
  CHECK(packed.split->test.size() == 2000);
  CHECK(packed.schema.outputs() == 10);
  CHECK(packed.node_values.size(0) == 10000 * 784);
}

}  // namespace geosft::test::test_idx_images
