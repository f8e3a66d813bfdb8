// SPDX-License-Identifier: Apache-2.0
// Lists the parts that the shapes of each class have.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// A part belongs to one class; its id is its place in a PartList.
struct ShapePart {
  std::string name;  // unique within the class
  int64_t category;  // index into the class names
  bool operator==(const ShapePart&) const = default;
};
using PartList = std::vector<ShapePart>;

// bool [classes, parts]: which parts the shapes of a class may have.
at::Tensor part_mask(const PartList& parts, int64_t classes);

// "ID CLASS PART" a line, ids counted from 0 in their order, classes as in `class_names`, each with a part. The same
// from text, where `source` stands for the file in messages; and the text. Throws DataError with the line.
PartList read_part_list(const std::filesystem::path& file, const std::vector<std::string>& class_names);
PartList parse_part_list(const std::string& text, const std::vector<std::string>& class_names,
                         const std::string& source);
std::string part_list_text(const PartList& parts, const std::vector<std::string>& class_names);

// The 16 classes and 50 parts of ShapeNetPart, by their published numbers. Its parts have no published names: they are
// called 1, 2, ….
struct ShapeNetPartClass {
  const char* name;
  const char* synset;  // the folder of the class
  int64_t first_part, parts;
};
const std::vector<ShapeNetPartClass>& shapenet_part_classes();
std::vector<std::string> shapenet_class_names();
PartList shapenet_part_list();

// Checks a list of the classes, "NAME SYNSET" a line: every line must be one of ShapeNetPart's, and with `all` every
// class must be there, in the order of the labels. Throws DataError with the line.
void check_shapenet_classes(const std::filesystem::path& file, bool all);

}  // namespace geosft
