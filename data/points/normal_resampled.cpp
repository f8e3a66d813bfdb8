// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "data/read_file.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// Returns e.g. "modelnet40_" if `source` is a folder with the class names of ModelNet40 or one of its lists; otherwise
// nothing.
std::optional<std::string> list_prefix(const fs::path& source) {
  const std::string name = source.filename().string();
  for (std::string prefix : {"modelnet40_", "modelnet10_"}) {
    const bool list = name == prefix + "shape_names.txt" || name == prefix + "train.txt" || name == prefix + "test.txt";
    if (fs::is_directory(source) ? fs::exists(source / (prefix + "shape_names.txt")) : list) return prefix;
  }
  return std::nullopt;
}

// Returns the label of CLASS_NUMBER. Names with slashes are rejected, because they could lead out of the data folder.
int64_t label_of(const std::string& shape, const std::vector<std::string>& classes, const fs::path& list) {
  const std::string class_name = shape.substr(0, shape.rfind('_'));
  const auto found = std::find(classes.begin(), classes.end(), class_name);
  const bool plain = shape.find_first_of("/\\") == std::string::npos && class_name.size() < shape.size();
  if (!plain || found == classes.end()) {
    throw DataError(list.string(), "names such as " + classes[0] + "_0001, of a class in the list of classes",
                    "\"" + shape + "\"");
  }
  return found - classes.begin();
}

void check_class_names(const std::vector<std::string>& classes, const fs::path& list) {
  for (const std::string& name : classes) {
    if (name.find_first_of("/\\") == std::string::npos && !name.starts_with('.')) continue;
    throw DataError(list.string(), "class names that are names of folders", "\"" + name + "\"");
  }
}

// Listed shapes that are absent: those of classes without a folder, and other files.
struct Absent {
  std::set<std::string> classes;
  int64_t of_those_classes = 0;
  std::vector<fs::path> files;
};

void list_shapes(const std::vector<std::string>& shapes, const fs::path& folder, const fs::path& list,
                 DatasetListing& listing, Absent& absent) {
  for (const std::string& shape : shapes) {
    const int64_t label = label_of(shape, listing.class_names, list);
    const std::string& class_name = listing.class_names[static_cast<size_t>(label)];
    const fs::path file = folder / class_name / (shape + ".txt");
    std::error_code error;
    if (!fs::is_directory(folder / class_name, error)) {
      absent.classes.insert(class_name);
      ++absent.of_those_classes;
    } else if (!path_exists(file)) {
      absent.files.push_back(file);
    } else {
      listing.items.push_back({(fs::path(class_name) / shape).string(), label, file, ""});
    }
  }
}

}  // namespace

bool is_normal_resampled(const fs::path& source) {
  return list_prefix(source).has_value();
}

DatasetListing list_normal_resampled(const fs::path& source, Split split, bool allow_missing) {
  const std::string prefix = list_prefix(source).value();
  const fs::path folder = fs::is_directory(source) ? source : source.parent_path();
  check_links(folder);
  const fs::path class_list = folder / (prefix + "shape_names.txt");
  const fs::path list = folder / (prefix + (split == Split::train ? "train.txt" : "test.txt"));
  DatasetListing listing;
  listing.columns = "x,y,z,nx,ny,nz";  // in some rows of the set these are 1,1,1
  listing.class_names = read_lines(class_list);
  check_class_names(listing.class_names, class_list);
  const std::vector<std::string> shapes = read_lines(list);
  Absent absent;
  list_shapes(shapes, folder, list, listing, absent);
  const std::string of_listed = " of the " + std::to_string(shapes.size()) + " shapes in " + list.filename().string();
  if (!absent.files.empty() && !allow_missing) {
    throw DataError(absent.files[0].string(), "a shape that " + list.filename().string() + " lists",
                    "no such file; " + std::to_string(absent.files.size()) + of_listed +
                        " are absent though their class has a folder (train --allow-missing leaves them out)");
  }
  if (listing.items.empty())
    throw DataError(folder.string(), "shapes that " + list.string() + " lists", "none of them");
  if (!absent.classes.empty()) {
    listing.warnings.push_back(std::to_string(absent.of_those_classes) + of_listed +
                               " are left out: " + std::to_string(absent.classes.size()) + " classes have no folder");
  }
  if (!absent.files.empty())
    listing.warnings.push_back(std::to_string(absent.files.size()) + of_listed + " are absent");
  if (fs::is_directory(source) && prefix == "modelnet40_" && fs::exists(folder / "modelnet10_shape_names.txt")) {
    listing.warnings.push_back(folder.string() + ": ModelNet40 and ModelNet10, of which ModelNet40 is taken; " +
                               "modelnet10_train.txt in place of the folder selects the other");
  }
  return listing;
}

}  // namespace geosft
