// SPDX-License-Identifier: Apache-2.0
#include "data/folder_tree.h"

#include <algorithm>

#include "data/shape_file.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Shape files of both splits, by class.
struct ClassFiles {
  std::vector<fs::path> train, test;
};
using Classes = std::map<std::string, ClassFiles>;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::vector<fs::path> sorted_entries(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  if (!fs::is_directory(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool wanted = folders ? entry.is_directory() : entry.is_regular_file() && has_shape_extension(entry.path());
    if (wanted && !is_hidden(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool has_split_folders(const fs::path& folder) {
  return fs::is_directory(folder / "train") || fs::is_directory(folder / "test");
}

void split_by_rule(const std::vector<fs::path>& files, int64_t test_every, ClassFiles& split) {
  for (size_t i = 0; i < files.size(); ++i) {
    const bool is_test = test_every > 0 && static_cast<int64_t>(i) % test_every == test_every - 1;
    if (!is_test || test_every == 0) split.train.push_back(files[i]);
    if (is_test || test_every == 0) split.test.push_back(files[i]);
  }
}

// Shape files that lie in `folder` itself belong to no class.
void remark_loose_files(const fs::path& folder, std::vector<std::string>& remarks) {
  const size_t loose = sorted_entries(folder, false).size();
  if (loose == 0) return;
  remarks.push_back(folder.string() + ": " + std::to_string(loose) + " files in no class folder are left out");
}

Classes find_classes(const fs::path& root, int64_t test_every, std::vector<std::string>& remarks) {
  Classes classes;
  remark_loose_files(root, remarks);
  if (has_split_folders(root)) {
    remark_loose_files(root / "train", remarks);
    remark_loose_files(root / "test", remarks);
    for (const fs::path& folder : sorted_entries(root, true)) {
      if (folder.filename() != "train" && folder.filename() != "test") {
        remarks.push_back(folder.string() + ": a folder beside train/ and test/, left out");
      }
    }
    for (const fs::path& folder : sorted_entries(root / "train", true)) {
      classes[folder.filename()].train = sorted_entries(folder, false);
    }
    for (const fs::path& folder : sorted_entries(root / "test", true)) {
      classes[folder.filename()].test = sorted_entries(folder, false);
    }
    return classes;
  }
  for (const fs::path& folder : sorted_entries(root, true)) {
    ClassFiles& files = classes[folder.filename()];
    const std::vector<fs::path> beside = sorted_entries(folder, false);
    if (!has_split_folders(folder)) {
      split_by_rule(beside, test_every, files);
      continue;
    }
    files.train = sorted_entries(folder / "train", false);
    files.test = sorted_entries(folder / "test", false);
    if (!beside.empty()) {
      remarks.push_back(folder.string() + ": " + std::to_string(beside.size()) +
                        " files beside train/ and test/ are left out");
    }
  }
  return classes;
}

}  // namespace

DatasetListing list_folder_tree(const fs::path& root, Split split, int64_t test_every) {
  TORCH_CHECK(test_every >= 0, "test_every must be 0 or more, got ", test_every);
  DatasetListing listing;
  for (const auto& [name, files] : find_classes(root, test_every, listing.remarks)) {
    if (files.train.empty() && files.test.empty()) {
      listing.remarks.push_back((root / name).string() + ": no class, for it holds no shape file");
      continue;
    }
    const auto label = static_cast<int64_t>(listing.class_names.size());
    listing.class_names.push_back(name);
    for (const fs::path& file : split == Split::train ? files.train : files.test) {
      listing.items.push_back({fs::relative(file, root).string(), label, file, ""});
    }
  }
  if (listing.class_names.empty()) {
    throw DataError(root.string(),
                    std::string("a point dataset: *_objectdataset*.h5 (ScanObjectNN), train_files.txt or ply_data_*.h5 "
                                "(ModelNet40 HDF5), modelnet40_shape_names.txt (normal_resampled), or a folder a class "
                                "with files that end in ") +
                        shape_extensions,
                    "none of these");
  }
  if (listing.items.empty()) {
    throw DataError(root.string(), split == Split::train ? "shapes to train with" : "shapes to test with", "none");
  }
  return listing;
}

}  // namespace geosft
