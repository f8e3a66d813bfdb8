// SPDX-License-Identifier: Apache-2.0
// Lists the parts of the shapes of each class.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// A part belongs to one class; its id is its index in a PartList.
struct ShapePart {
  std::string name;   // unique within the class
  int64_t category;   // index into the class names
  int64_t label = 0;  // of its points in files of the class; unique within the class
  // Parts of two datasets are the same by name, whatever their labels.
  bool operator==(const ShapePart& other) const { return name == other.name && category == other.category; }
};
using PartList = std::vector<ShapePart>;
inline constexpr const char* part_list_name = "parts.txt";  // the list in the folder of a dataset

// Returns bool [classes, parts]: the parts that belong to each class.
at::Tensor part_mask(const PartList& parts, int64_t classes);

// Read, parse and write a list with one "ID CLASS PART" per line. Ids count from 0 in order, and are the labels. Every
// class of `class_names` has a part. `source` names the text in messages. Throws DataError with the line.
PartList read_part_list(const std::filesystem::path& file, const std::vector<std::string>& class_names);
PartList parse_part_list(const std::string& text, const std::vector<std::string>& class_names,
                         const std::string& source);
std::string part_list_text(const PartList& parts, const std::vector<std::string>& class_names);

// The labels in the files of each class: those of parts, and pairs (class, label) for points without a label.
struct LabelledParts {
  PartList parts;
  std::vector<std::pair<int64_t, int64_t>> unlabelled = {};
};
// Reads lines "LABEL CLASS PART" where each class has labels of its own, in any order and with gaps: "0 Cup handle" and
// "0 Chair leg". "255 Cup unlabelled" (or unlabeled, in any case) is no part: it says that points with 255 have no
// label. Throws DataError likewise, and for a label that a class has twice.
LabelledParts read_labelled_parts(const std::filesystem::path& file, const std::vector<std::string>& class_names);

// The 16 classes and 50 parts of ShapeNetPart, with their published ids. The parts have no published names: they are
// named 1, 2, ….
struct ShapeNetPartClass {
  const char* name;
  const char* synset;  // folder of the class
  int64_t first_part, parts;
};
const std::vector<ShapeNetPartClass>& shapenet_part_classes();
std::vector<std::string> shapenet_class_names();
PartList shapenet_part_list();

// Checks a list of classes, one "NAME SYNSET" per line: each must be a class of ShapeNetPart, and with `all` every
// class must be listed in label order. Throws DataError with the line.
void check_shapenet_classes(const std::filesystem::path& file, bool all);

}  // namespace geosft
