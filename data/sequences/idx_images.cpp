// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/file_content.h"
#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t unsigned_bytes = 0x0800;  // data type in the magic number of an idx file; the last byte is the rank

// Sizes and data of an idx file of unsigned bytes.
struct IdxFile {
  IdxFile(const fs::path& file, uint32_t rank) : name(file.string()), bytes(read_gz_file(file)) {
    const std::string other = foreign_text(bytes);
    if (!other.empty()) throw DataError(name, "an idx file", other);
    const uint32_t magic = word(0);
    if (magic != unsigned_bytes + rank) {
      throw DataError(name, "the magic number " + std::to_string(unsigned_bytes + rank), std::to_string(magic));
    }
    int64_t count = 1;
    for (uint32_t d = 1; d <= rank; ++d) {
      sizes.push_back(word(d));
      if (sizes.back() > max_bytes / std::max<int64_t>(count, 1)) {
        throw DataError(name, "sizes that fit a file", "larger ones");
      }
      count *= sizes.back();
    }
    first = 4 * (1 + static_cast<size_t>(rank));
    if (static_cast<int64_t>(bytes.size() - first) != count) {
      throw DataError(name, std::to_string(count) + " bytes as its sizes say", std::to_string(bytes.size() - first));
    }
  }

  uint8_t operator[](int64_t i) const { return static_cast<uint8_t>(bytes[first + static_cast<size_t>(i)]); }

  std::string name, bytes;
  std::vector<int64_t> sizes;
  size_t first = 0;

 private:
  static constexpr int64_t max_bytes = int64_t{1} << 40;

  uint32_t word(size_t place) const {
    if (bytes.size() < 4 * place + 4) throw DataError(name, "the header of an idx file", "the end of the file");
    uint32_t value = 0;
    for (size_t b = 0; b < 4; ++b) value = value << 8 | static_cast<uint8_t>(bytes[4 * place + b]);
    return value;
  }
};

// Returns the file of images or labels of a split, such as train-images-idx3-ubyte or train-images.idx3-ubyte, plain or
// .gz; the first name if there is none.
fs::path idx_file(const fs::path& folder, const std::string& what, const char* kind) {
  const fs::path published = file_or_gz(folder / (what + "-" + kind)),
                 renamed = file_or_gz(folder / (what + "." + kind));
  return !fs::exists(published) && fs::exists(renamed) ? renamed : published;
}

fs::path images_file(const fs::path& folder, const std::string& split) {
  return idx_file(folder, split + "-images", "idx3-ubyte");
}

struct LabelledImages {
  at::Tensor pixels, labels;  // float32 [count, pixels], int64 [count]
  std::vector<int64_t> sizes;
};

LabelledImages read_images(const fs::path& folder, const std::string& split) {
  const IdxFile images(images_file(folder, split), 3);
  const IdxFile labels(idx_file(folder, split + "-labels", "idx1-ubyte"), 1);
  const int64_t count = images.sizes[0], pixels = images.sizes[1] * images.sizes[2];
  if (labels.sizes[0] != count) {
    throw DataError(labels.name, "a label for each of the " + std::to_string(count) + " images",
                    std::to_string(labels.sizes[0]));
  }
  if (count == 0 || pixels == 0) throw DataError(images.name, "images with pixels", "none");
  LabelledImages read{at::empty({count, pixels}, at::kFloat), at::empty({count}, at::kLong), images.sizes};
  float* pixel = read.pixels.mutable_data_ptr<float>();
  for (int64_t i = 0; i < count * pixels; ++i) pixel[i] = static_cast<float>(images[i]) / 255.0F;
  for (int64_t i = 0; i < count; ++i) read.labels.mutable_data_ptr<int64_t>()[i] = labels[i];
  return read;
}

}  // namespace

bool is_idx_images(const fs::path& folder) {
  return fs::exists(images_file(folder, "train"));
}

PackedItems read_idx_images(const fs::path& folder) {
  const bool named_test = fs::exists(images_file(folder, "test"));
  const LabelledImages train = read_images(folder, "train"), test = read_images(folder, named_test ? "test" : "t10k");
  if (test.pixels.size(1) != train.pixels.size(1) || test.sizes[1] != train.sizes[1]) {
    throw DataError(folder.string(), "test images of the size of the training images", "another size");
  }
  const int64_t items = train.labels.size(0), all = items + test.labels.size(0), pixels = train.pixels.size(1);
  std::vector<std::string> classes;
  for (int64_t label = 0; label <= train.labels.max().item<int64_t>(); ++label)
    classes.push_back(std::to_string(label));
  PackedItems packed = packed_sequences(at::arange(all + 1, at::kLong) * pixels, at::cat({train.labels, test.labels}),
                                        std::move(classes));
  packed.node_values = at::cat({train.pixels, test.pixels}).view({-1, 1});
  packed.schema.node_values = 1;
  packed.schema.grid_height = train.sizes[1];
  packed.schema.grid_width = train.sizes[2];
  packed.split = DatasetSplit{item_range(0, items), {}, item_range(items, all)};
  check_packed_items(packed, folder.string());
  return packed;
}

}  // namespace geosft
