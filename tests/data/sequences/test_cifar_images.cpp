// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/sequence_dataset.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_cifar_images {
namespace {

// One record, every pixel of one colour.
std::string record(char label, char red, char green, char blue) {
  return std::string(1, label) + std::string(1024, red) + std::string(1024, green) + std::string(1024, blue);
}

}  // namespace

TEST_CASE("CIFAR images become sequences of grey pixels", "[cifar_images]") {
  const TemporaryFolder folder;
  CHECK_FALSE(is_cifar_images(folder.path()));
  write_text(folder / "data_batch_1.bin", record(3, '\xff', 0, 0) + record(9, '\xff', '\xff', '\xff'));
  write_text(folder / "data_batch_2.bin", record(0, 0, 0, '\xff'));
  write_text(folder / "test_batch.bin", record(1, 0, '\xff', 0));
  CHECK(is_cifar_images(folder.path()));
  const PackedItems packed = read_cifar_images(folder.path());
  CHECK(packed.size() == 4);
  require_equal(packed.target, at::tensor({3, 9, 0, 1}, at::kLong), "target");
  const at::Tensor first = packed.node_values.view({4, 1024}).select(1, 500);
  require_close(first, at::tensor({0.299, 1.0, 0.114, 0.587}, at::kFloat), 1e-6, "grey");
  CHECK(packed.split->train == std::vector<int64_t>{0, 1, 2});
  CHECK(packed.split->test == std::vector<int64_t>{3});
  CHECK(packed.schema.output_names[9] == "9");
  write_text(folder / "batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  CHECK(read_cifar_images(folder.path()).schema.output_names[9] == "j");
}

TEST_CASE("broken CIFAR files are refused by name", "[cifar_images]") {
  const TemporaryFolder folder;
  write_text(folder / "data_batch_1.bin", record(3, 0, 0, 0) + "x");
  require_error([&] { read_cifar_images(folder.path()); }, {"data_batch_1.bin", "3073", "3074"});
  write_text(folder / "data_batch_1.bin", "");
  require_error([&] { read_cifar_images(folder.path()); }, {"data_batch_1.bin", "3073", "0 bytes"});
  write_text(folder / "data_batch_1.bin", record(10, 0, 0, 0));
  require_error([&] { read_cifar_images(folder.path()); }, {"data_batch_1.bin", "labels from 0 to 9", "10"});
  write_text(folder / "data_batch_1.bin", record(1, 0, 0, 0));
  require_error([&] { read_cifar_images(folder.path()); }, {"test_batch.bin"});
  write_text(folder / "test_batch.bin", record(1, 0, 0, 0));
  write_text(folder / "batches.meta.txt", "a\n");
  require_error([&] { read_cifar_images(folder.path()); }, {"batches.meta.txt", "10 names"});
}

}  // namespace geosft::test::test_cifar_images
