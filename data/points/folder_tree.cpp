// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>

#include "data/formats/shape_file.h"
#include "data/formats/text_lines.h"
#include "data/seeds.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Shape files of one class in both splits.
struct ClassFiles {
  std::vector<fs::path> train, test;
  fs::path folder;       // the first one
  bool by_rule = false;  // without train/ and test/ folders
};
using Classes = std::map<std::string, ClassFiles>;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

// Which files of a tree are taken: all shapes, or the clouds of list_labelled_tree.
enum class TreeFiles { shapes, labelled };

// Returns whether a file is one of TreeFiles::labelled.
bool is_labelled_cloud(const fs::path& file) {
  return can_hold_labels(file) && !is_text_of_words(file);
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

Entries entries_of(const fs::path& folder, TreeFiles files) {
  Entries found;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return found;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    const fs::path& path = at->path();
    if (is_hidden(path)) continue;
    if (files == TreeFiles::labelled && path.filename() == part_list_name) continue;
    if (type_of(path) == fs::file_type::directory) {
      found.folders.push_back(path);
    } else {
      (has_shape_extension(path) ? found.shapes : found.others).push_back(path);
    }
  }
  if (error) throw DataError(folder.string(), "a folder that can be read", error.message());
  const std::vector<fs::path> companions = take_companions(found.shapes);
  found.others.insert(found.others.end(), companions.begin(), companions.end());
  if (files == TreeFiles::labelled) {
    const auto kept = std::stable_partition(found.shapes.begin(), found.shapes.end(), is_labelled_cloud);
    found.others.insert(found.others.end(), kept, found.shapes.end());
    found.shapes.erase(kept, found.shapes.end());
  }
  for (auto* paths : {&found.shapes, &found.folders, &found.others}) std::sort(paths->begin(), paths->end());
  return found;
}

// Returns the split that a folder is named after, in any case: "train", "Train" or "training".
std::optional<Split> split_of(const fs::path& folder) {
  const std::string name = lower_case(folder.filename().string());
  if (name == "train" || name == "training") return Split::train;
  if (name == "test" || name == "testing") return Split::test;
  return std::nullopt;
}

bool has_split_folders(const Entries& entries) {
  return std::any_of(entries.folders.begin(), entries.folders.end(), [](const fs::path& one) { return split_of(one); });
}

// Returns the name without .gz.
fs::path without_gz(const fs::path& file) {
  return lower_case(file.extension().string()) == ".gz" ? fs::path(file).replace_extension() : file;
}

// Returns the rank of a format among the files of one shape: meshes first, since points are sampled from them. A packed
// file comes after one that is not.
size_t format_rank(const fs::path& file) {
  constexpr std::array<std::string_view, 9> order = {".off",  ".obj", ".ply", ".stl", ".glb",
                                                     ".gltf", ".pcd", ".xyz", ".txt"};
  const fs::path plain = without_gz(file);
  const auto rank = std::find(order.begin(), order.end(), lower_case(plain.extension().string())) - order.begin();
  return 2 * static_cast<size_t>(rank) + (plain == file ? 0 : 1);
}

constexpr const char* layouts =
    "CLASS/FILE, train/CLASS/FILE and test/CLASS/FILE, CLASS/train/FILE and CLASS/test/FILE, or in place of FILE "
    "ID/models/model*.obj";

struct SplitRule {
  int64_t test_every;
  SplitOrder order;
};

// The rule of list_labelled_tree; convert_parts.py takes the same files.
constexpr SplitRule labelled_rule{4, SplitOrder::name};

// Returns the places of the files of a class in the order in which they are taken for testing: by a hash of class and
// name, without the extension.
std::vector<size_t> hashed_order(const std::vector<fs::path>& files, const fs::path& folder) {
  std::vector<std::pair<uint64_t, size_t>> hashes;
  for (size_t i = 0; i < files.size(); ++i) {
    const fs::path name = without_gz(files[i].lexically_relative(folder.parent_path())).replace_extension();
    hashes.emplace_back(combine_seeds({text_hash(name.string())}), i);
  }
  std::sort(hashes.begin(), hashes.end());
  std::vector<size_t> order;
  for (const auto& [hash, place] : hashes) order.push_back(place);
  return order;
}

// Splits the files of the class in `folder`, which are sorted.
void split_by_rule(const std::vector<fs::path>& files, const fs::path& folder, SplitRule rule, ClassFiles& split) {
  std::vector<char> is_test(files.size(), 0);
  if (rule.test_every > 0) {
    const auto every = static_cast<size_t>(rule.test_every), count = files.size() / every;
    const std::vector<size_t> order = hashed_order(files, folder);
    for (size_t i = 0; i < count; ++i) is_test[rule.order == SplitOrder::hash ? order[i] : (i + 1) * every - 1] = 1;
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (!is_test[i] || rule.test_every == 0) split.train.push_back(files[i]);
    if (is_test[i] || rule.test_every == 0) split.test.push_back(files[i]);
  }
}

// Returns "1 file" or "2 files".
std::string files_text(size_t count) {
  return std::to_string(count) + (count == 1 ? " file" : " files");
}

// Finds the classes of a tree and counts the files that it skips.
class TreeScan {
 public:
  TreeScan(const fs::path& root, SplitRule rule, TreeFiles files) : root_(root), files_(files) {
    const Entries top = entries_of(root, files_);
    if (is_one_class(top)) {
      take_class(root, rule);
    } else {
      warn_of_loose_files(root, top);
      take_classes(top, rule);
    }
    warn_of_variants();
    warn_of_passed_by();
  }

  // Says why no class has a file to test with, which holds for few files that are split by their number; else empty.
  std::string too_few(int64_t test_every) const {
    const bool lacks =
        std::all_of(classes.begin(), classes.end(), [](const auto& one) { return one.second.test.empty(); });
    if (!by_number_ || !lacks) return "";
    size_t largest = 0;
    for (const auto& [name, files] : classes) largest = std::max(largest, files.train.size());
    return "at most " + std::to_string(largest) + " files per class, of which one in " + std::to_string(test_every) +
           " is for testing; " +
           (files_ == TreeFiles::labelled ? ""
                                          : "--test-every " + std::to_string(std::max<size_t>(largest, 2)) +
                                                " takes one of these, --test-every 0 tests on all files, and ") +
           "folders train/ and test/ split them your way";
  }

  // Says what was found in place of a class.
  std::string found_instead() const {
    if (first_nested_.empty() && loose_ > 0) {
      return files_text(loose_) + " with shapes in no class folder, such as " +
             first_loose_.lexically_relative(root_).string() + "; folders must be " + layouts;
    }
    if (first_nested_.empty() && !classes.empty()) {
      return "folders without a shape file, such as " + classes.begin()->second.folder.string();
    }
    if (first_nested_.empty()) return "none of these";
    return std::to_string(nested_) +
           (nested_ == 1 ? " shape file in another place, " : " shape files in other places, such as ") +
           first_nested_.lexically_relative(root_).string() + "; folders must be " + layouts;
  }

  Classes classes;
  std::vector<std::string> warnings;

 private:
  // Returns whether labelled clouds lie in no class folder, but in the root, or in its folders train/ and test/: they
  // are a class that is named after the root.
  bool is_one_class(const Entries& top) const {
    std::error_code error;
    if (files_ != TreeFiles::labelled || fs::exists(root_ / "config.toml", error)) return false;  // a RUN
    if (top.folders.empty()) return !top.shapes.empty();
    return top.shapes.empty() && has_split_folders(top) &&
           std::all_of(top.folders.begin(), top.folders.end(), [&](const fs::path& folder) {
             const Entries inside = entries_of(folder, files_);
             return inside.folders.empty() && (!split_of(folder) || !inside.shapes.empty());
           });
  }

  void take_classes(const Entries& top, SplitRule rule) {
    if (has_split_folders(top)) {
      take_splits(top);
      return;
    }
    for (const fs::path& folder : top.folders) {
      if (!leaves_out(folder)) take_class(folder, rule);
    }
  }

  // Returns the class that a folder is named after.
  ClassFiles& class_in(const fs::path& folder) {
    const fs::path whole = fs::absolute(folder).lexically_normal();
    const std::string name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
    if (trimmed(name) != name || name.find_first_of("\r\n") != std::string::npos) {
      throw DataError(folder.string(), "the name of a class, one line without blanks around it", "\"" + name + "\"");
    }
    const auto [found, is_new] = classes.try_emplace(name);
    if (is_new) found->second.folder = folder;
    return found->second;
  }

  // Warns about shape files directly in `folder`, which belong to no class.
  void warn_of_loose_files(const fs::path& folder, const Entries& entries) {
    count_others(entries);
    if (entries.shapes.empty()) return;
    const size_t count = entries.shapes.size();
    const std::string first = entries.shapes.front().filename().string();
    if (loose_ == 0) first_loose_ = entries.shapes.front();
    loose_ += count;
    warnings.push_back(folder.string() + ": " + files_text(count) + " in no class folder " +
                       (count == 1 ? "is left out: " + first : "are left out, such as " + first));
  }

  // Returns whether a folder beside the classes is none, which a warning then says: by its name, or as the RUN of a
  // training.
  bool leaves_out(const fs::path& folder) {
    std::error_code error;
    const bool named = folder.filename().string().starts_with('_');
    if (!named && !fs::exists(folder / "config.toml", error)) return false;
    warnings.push_back(folder.string() + (named ? ": no class, for its name begins with _, so it is left out"
                                                : ": no class, but a RUN, so it is left out"));
    return true;
  }

  // Returns the shape files directly in a class folder or its split folder, and those of shapes with a folder of their
  // own, as in ShapeNetCore; other ones are only counted.
  std::vector<fs::path> shapes_of(const fs::path& folder) {
    const Entries entries = entries_of(folder, files_);
    count_others(entries);
    std::vector<fs::path> shapes = one_of_each(entries.shapes);
    for (const fs::path& below : entries.folders) {
      const std::vector<fs::path> models = models_of(below);
      if (models.empty()) count_nested(below);
      shapes.insert(shapes.end(), models.begin(), models.end());
    }
    return shapes;
  }

  // Returns ID/models/model*.obj or ID/model*.obj for the folder ID of a shape; nothing if there is no such file.
  std::vector<fs::path> models_of(const fs::path& folder) {
    std::error_code error;
    if (fs::is_symlink(folder, error)) return {};
    const fs::path models = folder / "models";
    std::vector<fs::path> found;
    try {
      found = entries_of(fs::is_directory(models, error) ? models : folder, files_).shapes;
    } catch (const DataError&) {
      return {};  // whatever cannot be read there may be no shape
    }
    std::erase_if(found, [](const fs::path& file) { return !file.filename().string().starts_with("model"); });
    return one_of_each(found);
  }

  // Returns, of files that differ in the extension only, the one in the preferred format. `files` are sorted.
  std::vector<fs::path> one_of_each(const std::vector<fs::path>& files) {
    std::map<fs::path, fs::path> taken;  // by the path without the extension
    for (const fs::path& file : files) {
      const auto [kept, is_new] = taken.emplace(without_gz(file).replace_extension(), file);
      if (is_new) continue;
      if (files_ == TreeFiles::labelled) {
        throw DataError(file.string(), "one file for each cloud",
                        "another one of this name, " + kept->second.filename().string());
      }
      ++variants_;
      fs::path other = file;
      if (format_rank(file) < format_rank(kept->second)) std::swap(kept->second, other);
      if (variant_.empty())
        variant_ = kept->second.lexically_relative(root_).string() + ", not " + other.filename().string();
    }
    std::vector<fs::path> shapes;
    for (const auto& [stem, file] : taken) shapes.push_back(file);
    std::sort(shapes.begin(), shapes.end());
    return shapes;
  }

  void warn_of_variants() {
    if (variants_ == 0) return;
    warnings.push_back(root_.string() + ": " + std::to_string(variants_) +
                       (variants_ == 1 ? " file is another format" : " files are other formats") +
                       " of a shape, and left out: taken is " + variant_ + (variants_ > 1 ? ", and so on" : ""));
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
        if (nested_++ == 0 || at->path() < first_nested_) first_nested_ = at->path();
      } else {
        ++others_[at->path().extension().string()];
      }
    }
  }

  void take_splits(const Entries& top) {
    for (const fs::path& folder : top.folders) {
      const std::optional<Split> is_split = split_of(folder);
      if (!is_split) {
        warnings.push_back(folder.string() + ": a folder beside train/ and test/, left out");
        continue;
      }
      const Entries split = entries_of(folder, files_);
      warn_of_loose_files(folder, split);
      for (const fs::path& of_class : split.folders) {
        if (leaves_out(of_class)) continue;
        ClassFiles& files = class_in(of_class);
        append(*is_split == Split::train ? files.train : files.test, shapes_of(of_class));
      }
    }
  }

  void take_class(const fs::path& folder, SplitRule rule) {
    ClassFiles& files = class_in(folder);
    const Entries beside = entries_of(folder, files_);
    if (!has_split_folders(beside)) {
      by_number_ = files.by_rule = true;
      split_by_rule(shapes_of(folder), folder, rule, files);
      return;
    }
    count_others(beside);
    for (const fs::path& below : beside.folders) {
      if (const std::optional<Split> is_split = split_of(below)) {
        append(*is_split == Split::train ? files.train : files.test, shapes_of(below));
      } else {
        count_nested(below);
      }
    }
    if (beside.shapes.empty()) return;
    const size_t count = beside.shapes.size();
    warnings.push_back(folder.string() + ": " + files_text(count) + " beside train/ and test/ " +
                       (count == 1 ? "is" : "are") + " left out");
  }

  static void append(std::vector<fs::path>& to, const std::vector<fs::path>& files) {
    to.insert(to.end(), files.begin(), files.end());
  }

  void warn_of_passed_by() {
    std::string text;
    const auto add = [&](size_t count, const std::string& one, const std::string& more) {
      if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + (count == 1 ? one : one + "s") + more;
    };
    const std::string nested = (nested_ == 1 ? "" : "such as ") + first_nested_.lexically_relative(root_).string();
    add(nested_, " shape file", " in folders below their class (" + nested + ")");
    add(linked_, " link", " to folders below a class");
    for (const auto& [extension, count] : others_) {
      add(count, " file", extension.empty() ? " without an extension" : " *" + extension);
    }
    if (!text.empty()) warnings.push_back(root_.string() + ": left out: " + text);
  }

  std::map<std::string, size_t> others_;  // number of non-shape files by extension
  bool by_number_ = false;                // some class is split by test_every
  size_t nested_ = 0, linked_ = 0, variants_ = 0, loose_ = 0;
  fs::path root_, first_nested_, first_loose_;
  TreeFiles files_;
  std::string variant_;  // the first one: what was taken, and what was not
};

// Warns about classes whose names differ in case alone.
void warn_of_spellings(const fs::path& root, const Classes& classes, std::vector<std::string>& warnings) {
  std::map<std::string, std::string> known;  // the first one of each spelling
  for (const auto& [name, files] : classes) {
    const auto [first, is_new] = known.emplace(lower_case(name), name);
    if (is_new) continue;
    warnings.push_back(root.string() + ": " + first->second + " and " + name + " differ in case, and are two classes");
  }
}

// Warns about classes without a shape in the split.
void warn_of_empty_classes(const fs::path& root, const Classes& classes, Split split, int64_t test_every,
                           std::vector<std::string>& warnings) {
  std::vector<std::string> empty;
  size_t real = 0;  // a folder without any shape is no class
  bool few = true;
  for (const auto& [name, files] : classes) {
    if (!files.train.empty() || !files.test.empty()) ++real;
    const auto& [of_split, of_other] =
        split == Split::train ? std::tie(files.train, files.test) : std::tie(files.test, files.train);
    if (of_split.empty() && !of_other.empty()) {
      empty.push_back(name);
      few = few && files.by_rule && static_cast<int64_t>(of_other.size()) < test_every;
    }
  }
  if (empty.empty() || empty.size() == real) return;
  const std::string what = std::string("no shape to ") + (split == Split::train ? "train" : "test") + " with";
  const std::string needed = std::to_string(test_every);
  const std::string rule = split == Split::test && few
                               ? " (one in " + needed + " files is for testing: a class needs " + needed + " of them)"
                               : "";
  warnings.push_back(root.string() + ": " + empty_classes_text(empty, real, what) + rule);
}

DatasetListing list_tree(const fs::path& root, Split split, SplitRule rule, TreeFiles files) {
  const int64_t test_every = rule.test_every;
  const TreeScan scan(root, rule, files);
  DatasetListing listing;
  listing.warnings = scan.warnings;
  for (const auto& [name, of_class] : scan.classes) {
    if (of_class.train.empty() && of_class.test.empty()) {
      listing.warnings.push_back(of_class.folder.string() + ": no class, for it holds no shape file");
      continue;
    }
    const auto label = static_cast<int64_t>(listing.class_names.size());
    listing.class_names.push_back(name);
    for (const fs::path& file : split == Split::train ? of_class.train : of_class.test) {
      listing.items.push_back({file.lexically_relative(root).string(), label, file, ""});
    }
  }
  if (listing.class_names.empty()) {
    throw DataError(root.string(), "a point dataset: " + point_formats_text(), scan.found_instead());
  }
  if (listing.items.empty()) {
    std::string few = split == Split::test ? scan.too_few(test_every) : "";
    if (split == Split::train && test_every == 1) few = "none: --test-every 1 takes all of them for testing";
    if (few.empty()) few = std::string("none in a folder ") + (split == Split::train ? "train/" : "test/");
    throw DataError(root.string(), split == Split::train ? "shapes to train with" : "shapes to test with", few);
  }
  warn_of_spellings(root, scan.classes, listing.warnings);
  warn_of_empty_classes(root, scan.classes, split, test_every, listing.warnings);
  return listing;
}

}  // namespace

DatasetListing list_folder_tree(const fs::path& root, Split split, int64_t test_every, SplitOrder split_order) {
  TORCH_CHECK(test_every >= 0, "test_every must be 0 or more, got ", test_every);
  return list_tree(root, split, {test_every, split_order}, TreeFiles::shapes);
}

DatasetListing list_labelled_tree(const fs::path& root, Split split) {
  return list_tree(root, split, labelled_rule, TreeFiles::labelled);
}

std::string not_labelled_tree_text(const fs::path& root) {
  return TreeScan(root, labelled_rule, TreeFiles::labelled).found_instead();
}

bool labelled_tree_has_split(const fs::path& root, Split split) {
  const TreeScan scan(root, labelled_rule, TreeFiles::labelled);
  return std::any_of(scan.classes.begin(), scan.classes.end(), [&](const auto& one) {
    return !(split == Split::train ? one.second.train : one.second.test).empty();
  });
}

}  // namespace geosft
