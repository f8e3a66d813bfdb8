// SPDX-License-Identifier: Apache-2.0
#include "data/points/folder_tree.h"

#include <algorithm>
#include <functional>
#include <map>
#include <system_error>

#include "data/formats/shape_file.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Shape files of one class in both splits.
struct ClassFiles {
  std::vector<fs::path> train, test;
};
using Classes = std::map<std::string, ClassFiles>;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

// Relevant entries of a folder, sorted.
struct Entries {
  std::vector<fs::path> shapes, folders, others;
};

fs::file_type type_of(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  const bool known = type == fs::file_type::regular || type == fs::file_type::directory;
  // An entry without an extension may be a class folder.
  if (known || !(has_shape_extension(path) || path.extension().empty())) return type;
  const bool link = type == fs::file_type::not_found && fs::is_symlink(path, error);
  throw DataError(path.string(), "a file or a folder",
                  link ? "a link to nothing" : (error ? error.message() : "something else"));
}

// Beside .gltf files, .bin files are the buffers of these and no laser scans.
void separate_buffers(Entries& entries) {
  const auto ends_in = [](const char* extension) {
    return [extension](const fs::path& path) { return path.extension() == extension; };
  };
  std::vector<fs::path>& shapes = entries.shapes;
  if (std::none_of(shapes.begin(), shapes.end(), ends_in(".gltf"))) return;
  const auto buffers = std::stable_partition(shapes.begin(), shapes.end(), std::not_fn(ends_in(".bin")));
  entries.others.insert(entries.others.end(), buffers, shapes.end());
  shapes.erase(buffers, shapes.end());
}

Entries entries_of(const fs::path& folder) {
  Entries found;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return found;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    const fs::path& path = at->path();
    if (is_hidden(path)) continue;
    if (type_of(path) == fs::file_type::directory) {
      found.folders.push_back(path);
    } else {
      (has_shape_extension(path) ? found.shapes : found.others).push_back(path);
    }
  }
  if (error) throw DataError(folder.string(), "a folder that can be read", error.message());
  separate_buffers(found);
  for (auto* paths : {&found.shapes, &found.folders, &found.others}) std::sort(paths->begin(), paths->end());
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

// Finds the classes of a tree and counts the files that it skips.
class TreeScan {
 public:
  TreeScan(const fs::path& root, int64_t test_every) {
    const Entries top = entries_of(root);
    remark_loose_files(root, top);
    if (has_split_folders(root)) {
      take_splits(top);
    } else {
      for (const fs::path& folder : top.folders) take_class(folder, test_every);
    }
    remark_passed_by(root);
  }

  Classes classes;
  std::vector<std::string> warnings;

 private:
  // Warns about shape files directly in `folder`, which belong to no class.
  void remark_loose_files(const fs::path& folder, const Entries& entries) {
    count_others(entries);
    if (entries.shapes.empty()) return;
    warnings.push_back(folder.string() + ": " + std::to_string(entries.shapes.size()) +
                       " files in no class folder are left out");
  }

  // Returns the shape files directly in a class folder or its split folder; deeper ones are only counted.
  std::vector<fs::path> shapes_of(const fs::path& folder) {
    const Entries entries = entries_of(folder);
    count_others(entries);
    for (const fs::path& below : entries.folders) count_nested(below);
    return entries.shapes;
  }

  void count_others(const Entries& entries) {
    for (const fs::path& file : entries.others) ++others_[file.extension().string()];
  }

  // Counts nested shape files. Unreadable folders are ignored, since these files are not used.
  void count_nested(const fs::path& folder) {
    std::error_code error;
    if (fs::is_symlink(folder, error)) {
      ++linked_;  // it may form a cycle
      return;
    }
    const auto lenient = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(folder, lenient, error), end; !error && at != end; at.increment(error)) {
      std::error_code unknown;
      const bool is_folder = at->is_directory(unknown);
      if (is_hidden(at->path())) {
        if (is_folder) at.disable_recursion_pending();
      } else if (is_folder) {
        linked_ += at->is_symlink(unknown) ? 1 : 0;
      } else if (has_shape_extension(at->path())) {
        ++nested_;
      } else {
        ++others_[at->path().extension().string()];
      }
    }
  }

  void take_splits(const Entries& top) {
    for (const fs::path& folder : top.folders) {
      if (folder.filename() != "train" && folder.filename() != "test") {
        warnings.push_back(folder.string() + ": a folder beside train/ and test/, left out");
        continue;
      }
      const Entries split = entries_of(folder);
      remark_loose_files(folder, split);
      for (const fs::path& of_class : split.folders) {
        ClassFiles& files = classes[of_class.filename()];
        (folder.filename() == "train" ? files.train : files.test) = shapes_of(of_class);
      }
    }
  }

  void take_class(const fs::path& folder, int64_t test_every) {
    ClassFiles& files = classes[folder.filename()];
    if (!has_split_folders(folder)) {
      split_by_rule(shapes_of(folder), test_every, files);
      return;
    }
    files.train = shapes_of(folder / "train");
    files.test = shapes_of(folder / "test");
    const Entries beside = entries_of(folder);
    count_others(beside);
    for (const fs::path& below : beside.folders) {
      if (below.filename() != "train" && below.filename() != "test") count_nested(below);
    }
    if (beside.shapes.empty()) return;
    warnings.push_back(folder.string() + ": " + std::to_string(beside.shapes.size()) +
                       " files beside train/ and test/ are left out");
  }

  void remark_passed_by(const fs::path& root) {
    std::string text;
    const auto add = [&](size_t count, const std::string& what) {
      if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
    };
    add(nested_, " shape files in folders below their class");
    add(linked_, " links to folders below a class");
    for (const auto& [extension, count] : others_) {
      add(count, extension.empty() ? " files without an extension" : " files *" + extension);
    }
    if (!text.empty()) warnings.push_back(root.string() + ": left out are " + text);
  }

  std::map<std::string, size_t> others_;  // number of non-shape files by extension
  size_t nested_ = 0, linked_ = 0;
};

}  // namespace

DatasetListing list_folder_tree(const fs::path& root, Split split, int64_t test_every) {
  TORCH_CHECK(test_every >= 0, "test_every must be 0 or more, got ", test_every);
  const TreeScan scan(root, test_every);
  DatasetListing listing;
  listing.warnings = scan.warnings;
  for (const auto& [name, files] : scan.classes) {
    if (files.train.empty() && files.test.empty()) {
      listing.warnings.push_back((root / name).string() + ": no class, for it holds no shape file");
      continue;
    }
    const auto label = static_cast<int64_t>(listing.class_names.size());
    listing.class_names.push_back(name);
    for (const fs::path& file : split == Split::train ? files.train : files.test) {
      listing.items.push_back({file.lexically_relative(root).string(), label, file, ""});
    }
  }
  if (listing.class_names.empty()) {
    throw DataError(root.string(), "a point dataset: " + point_formats_text(), "none of these");
  }
  if (listing.items.empty()) {
    throw DataError(root.string(), split == Split::train ? "shapes to train with" : "shapes to test with", "none");
  }
  return listing;
}

}  // namespace geosft
