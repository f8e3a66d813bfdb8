// SPDX-License-Identifier: Apache-2.0

#include "data/data_error.h"
#include "data/read_file.h"
#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

constexpr size_t cifar_side = 32, cifar_pixels = cifar_side * cifar_side, record_bytes = 1 + 3 * cifar_pixels,
                 cifar_classes = 10;

fs::path batch_file(const fs::path& folder, int number) {
  return folder / ("data_batch_" + std::to_string(number) + ".bin");
}

struct GreyImages {
  std::vector<float> values;
  std::vector<int64_t> labels;

  void append(const fs::path& file) {
    const std::string bytes = read_file(file);
    if (bytes.empty() || bytes.size() % record_bytes != 0) {
      throw DataError(file.string(), "whole records of " + std::to_string(record_bytes) + " bytes",
                      std::to_string(bytes.size()) + " bytes");
    }
    for (size_t first = 0; first < bytes.size(); first += record_bytes) {
      const auto byte = [&](size_t place) { return static_cast<uint8_t>(bytes[first + place]); };
      if (byte(0) >= cifar_classes) throw DataError(file.string(), "labels from 0 to 9", std::to_string(byte(0)));
      labels.push_back(byte(0));
      for (size_t i = 1; i <= cifar_pixels; ++i) {
        const auto red = static_cast<float>(byte(i)), green = static_cast<float>(byte(i + cifar_pixels)),
                   blue = static_cast<float>(byte(i + 2 * cifar_pixels));
        values.push_back((0.299F * red + 0.587F * green + 0.114F * blue) / 255.0F);
      }
    }
  }
  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};

std::vector<std::string> cifar_names(const fs::path& folder) {
  const fs::path file = folder / "batches.meta.txt";
  if (fs::exists(file)) {
    std::vector<std::string> names = read_lines(file);
    if (names.size() != cifar_classes) {
      throw DataError(file.string(), "10 names of classes, a line each", std::to_string(names.size()));
    }
    return names;
  }
  std::vector<std::string> names;
  names.reserve(cifar_classes);
  for (size_t label = 0; label < cifar_classes; ++label) names.push_back(std::to_string(label));
  return names;
}

}  // namespace

bool is_cifar_images(const fs::path& folder) {
  return fs::exists(batch_file(folder, 1));
}

PackedItems read_cifar_images(const fs::path& folder) {
  GreyImages images;
  for (int number = 1; fs::exists(batch_file(folder, number)); ++number) images.append(batch_file(folder, number));
  const int64_t training = images.count();
  images.append(folder / "test_batch.bin");
  const at::Tensor ptr = at::arange(images.count() + 1, at::kLong) * static_cast<int64_t>(cifar_pixels);
  PackedItems packed = packed_sequences(ptr, at::tensor(images.labels, at::kLong), cifar_names(folder));
  packed.node_values = at::tensor(images.values, at::kFloat).unsqueeze(1);
  packed.schema.node_values = 1;
  packed.schema.grid_height = packed.schema.grid_width = cifar_side;
  packed.split = DatasetSplit{item_range(0, training), {}, item_range(training, images.count())};
  check_packed_items(packed, folder.string());
  return packed;
}

}  // namespace geosft
