// SPDX-License-Identifier: Apache-2.0
#include "data/sequences/picture_folders.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <exception>
#include <mutex>

#include "data/data_error.h"
#include "data/formats/picture.h"
#include "data/read_file.h"
#include "data/seeds.h"
#include "data/sequences/sequence_dataset.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t view_stream = 11;
constexpr size_t max_named = 10;  // files that a message lists

ColourImage read_picture_file(const std::string& file) {
  return read_picture(read_file(file), file);
}

// Returns the names of the entries of a folder that are folders, sorted.
std::vector<std::string> subfolders(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool holds_picture(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_picture_name(entry.path().filename().string())) return true;
  }
  return false;
}

// The pictures of several splits, in order.
class Listing {
 public:
  explicit Listing(std::vector<std::string> classes) : classes_(std::move(classes)) {}

  // Returns the items of the split in `folder`. `whole`: every class must have a picture.
  std::vector<int64_t> append(const fs::path& folder, bool whole) {
    const int64_t begin = count();
    for (const std::string& name : subfolders(folder)) {
      const auto found = std::lower_bound(classes_.begin(), classes_.end(), name);
      if (found == classes_.end() || *found != name) {
        throw DataError((folder / name).string(), "one of the classes of train", "another class");
      }
      const int64_t before = count();
      append_class(folder / name, found - classes_.begin());
      if (whole && count() == before) {
        throw DataError((folder / name).string(), "pictures of this class (*.jpg, *.jpeg, *.png)", "none");
      }
    }
    return item_range(begin, count());
  }

  // Throws DataError with the names of the empty files.
  void check_sizes(const fs::path& folder) const {
    if (empty_.empty()) return;
    std::string names;
    for (size_t i = 0; i < std::min(empty_.size(), max_named); ++i) names += (i > 0 ? ", " : "") + empty_[i];
    if (empty_.size() > max_named) names += ", …";
    throw DataError(folder.string(), "pictures", std::to_string(empty_.size()) + " empty files: " + names);
  }

  PictureFiles files;
  std::vector<int64_t> labels;
  int64_t ignored = 0;

 private:
  int64_t count() const { return static_cast<int64_t>(labels.size()); }

  void append_class(const fs::path& folder, int64_t label) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!is_picture_name(name) || !entry.is_regular_file()) {
        ++ignored;
        continue;
      }
      names.push_back(entry.path().string());
      if (entry.file_size() == 0) empty_.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    labels.insert(labels.end(), names.size(), label);
    files.files.insert(files.files.end(), names.begin(), names.end());
  }

  std::vector<std::string> classes_, empty_;
};

// Returns pictures as items of one step each.
PackedItems packed_pictures(PictureFiles files, const at::Tensor& labels, std::vector<std::string> classes) {
  const auto count = static_cast<int64_t>(files.files.size());
  PackedItems packed = packed_sequences(at::arange(count + 1, at::kLong), labels, std::move(classes));
  packed.schema.items = "pictures";
  packed.pictures = std::make_shared<const PictureFiles>(std::move(files));
  return packed;
}

// Calls each(i) for 0 <= i < count on several threads. Rethrows the exception of the smallest i, so that a message does
// not depend on the threads.
template <class Each>
void for_each_picture(int64_t count, const Each& each) {
  std::mutex mutex;
  std::exception_ptr failure;
  int64_t failed = count;
  at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    const at::NoGradGuard guard;  // of this thread
    for (int64_t i = begin; i < end; ++i) {
      try {
        each(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

at::Tensor picture_patches(const PictureFiles& pictures, const std::vector<int64_t>& items,
                           const std::optional<PictureAugmentation>& augmentation) {
  const int64_t places = pictures.patches_per_side(), side = pictures.patch;
  TORCH_CHECK(side >= 1 && places * side == pictures.view.side, "patch must divide the side of a view, ",
              pictures.view.side, ", got ", side);
  at::Tensor patches = at::empty({static_cast<int64_t>(items.size()), places, places, side, side, 3}, at::kFloat);
  for_each_picture(static_cast<int64_t>(items.size()), [&](int64_t i) {
    const int64_t item = items[static_cast<size_t>(i)];
    const ColourImage image = read_picture_file(pictures.files.at(static_cast<size_t>(item)));
    at::Tensor view;
    if (augmentation) {
      at::Generator generator =
          make_generator(combine_seeds({view_stream, augmentation->seed, static_cast<uint64_t>(item)}));
      view = random_view(image, pictures.view, generator);
    } else {
      view = centre_view(image, pictures.view);
    }
    patches.select(0, i).copy_(view.view({3, places, side, places, side}).permute({1, 3, 2, 4, 0}));
  });
  return patches.view({-1, pictures.values()});
}

std::vector<std::string> broken_pictures(const PictureFiles& pictures) {
  const auto count = static_cast<int64_t>(pictures.files.size());
  std::vector<std::string> messages(pictures.files.size());
  for_each_picture(count, [&](int64_t i) {
    try {
      read_picture_file(pictures.files[static_cast<size_t>(i)]);
    } catch (const DataError& error) {
      messages[static_cast<size_t>(i)] = error.what();
    }
  });
  std::erase(messages, "");
  return messages;
}

bool is_picture_folders(const fs::path& folder) {
  if (!fs::is_directory(folder / "train")) return false;
  const std::vector<std::string> classes = subfolders(folder / "train");
  return std::any_of(classes.begin(), classes.end(),
                     [&](const std::string& name) { return holds_picture(folder / "train" / name); });
}

PackedItems read_picture_folders(const fs::path& folder) {
  std::vector<std::string> classes = subfolders(folder / "train");
  const bool validation = fs::is_directory(folder / "val"), test = fs::is_directory(folder / "test");
  if (!validation && !test) throw DataError(folder.string(), "val/CLASS or test/CLASS beside train", "neither");
  Listing listing(classes);
  DatasetSplit split;
  split.train = listing.append(folder / "train", /*whole=*/true);
  if (validation && test) split.validation = listing.append(folder / "val", /*whole=*/false);
  split.test = listing.append(folder / (test ? "test" : "val"), /*whole=*/false);
  listing.check_sizes(folder);
  PackedItems packed =
      packed_pictures(std::move(listing.files), at::tensor(listing.labels, at::kLong), std::move(classes));
  packed.split = std::move(split);
  if (listing.ignored > 0) {
    packed.warnings.push_back(folder.string() + ": " + std::to_string(listing.ignored) +
                              " files are no pictures by their names, and are left out");
  }
  check_packed_items(packed, folder.string());
  return packed;
}

PackedItems single_picture(const fs::path& file) {
  PictureFiles files;
  files.files = {file.string()};
  return packed_pictures(std::move(files), at::zeros({1}, at::kLong), {});
}

PackedItems with_views(const PackedItems& pictures, const ViewOptions& view, int64_t patch) {
  TORCH_CHECK(pictures.pictures != nullptr, "pictures must be those of folders or of a file");
  TORCH_CHECK(patch >= 1 && view.side >= 1 && view.side % patch == 0, "patch must divide the side of a view, ",
              view.side, ", got ", patch);
  PackedItems cut = pictures;
  PictureFiles files = *pictures.pictures;
  files.view = view;
  files.patch = patch;
  cut.schema.grid_height = cut.schema.grid_width = files.patches_per_side();
  cut.schema.node_values = files.values();
  cut.pictures = std::make_shared<const PictureFiles>(std::move(files));
  return cut;
}

}  // namespace geosft
