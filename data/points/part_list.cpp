// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_list.h"

#include <algorithm>
#include <set>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/read_file.h"

namespace geosft {

at::Tensor part_mask(const PartList& parts, int64_t classes) {
  at::Tensor mask = at::zeros({classes, static_cast<int64_t>(parts.size())}, at::kBool);
  for (size_t id = 0; id < parts.size(); ++id) mask[parts[id].category][static_cast<int64_t>(id)] = true;
  return mask;
}

namespace {

bool is_unlabelled(const std::string& part) {
  const std::string name = lower_case(part);
  return name == "unlabelled" || name == "unlabeled";
}

// `counted`: the first words are ids, which count from 0 in order; otherwise they are labels of a class.
LabelledParts parse_lines(const std::string& text, const std::vector<std::string>& class_names,
                          const std::string& source, bool counted) {
  LabelledParts list;
  std::set<std::pair<int64_t, std::string>> seen;
  std::set<std::pair<int64_t, int64_t>> labels;
  TextLines lines(text, source);
  while (lines.next()) {
    const int64_t id = lines.integer("the id of a part");
    if (counted && id != static_cast<int64_t>(list.parts.size())) {
      lines.fail("part " + std::to_string(list.parts.size()) + ", the next one", std::to_string(id));
    }
    if (id < 0) lines.fail("the id of a part, 0 or more", std::to_string(id));
    const std::string_view name = lines.word();
    const auto found = std::find(class_names.begin(), class_names.end(), name);
    if (found == class_names.end()) lines.fail_word("the name of a class", name);
    const std::string part(lines.word());
    if (part.empty()) lines.fail_word("the name of a part", part);
    lines.end_of_line("the name of a part");
    const int64_t category = found - class_names.begin();
    const bool is_part = counted || !is_unlabelled(part);
    if (is_part && !seen.emplace(category, part).second) lines.fail("a part that is not above", part);
    if (!labels.emplace(category, id).second) {
      lines.fail("an id that is not above for " + *found, std::to_string(id));
    }
    if (is_part) {
      list.parts.push_back({part, category, id});
    } else {
      list.unlabelled.emplace_back(category, id);
    }
  }
  for (size_t label = 0; label < class_names.size(); ++label) {
    const auto owned = [&](const ShapePart& part) { return part.category == static_cast<int64_t>(label); };
    if (std::none_of(list.parts.begin(), list.parts.end(), owned))
      throw DataError(source, "a part of " + class_names[label], "none");
  }
  return list;
}

}  // namespace

PartList parse_part_list(const std::string& text, const std::vector<std::string>& class_names,
                         const std::string& source) {
  return parse_lines(text, class_names, source, /*counted=*/true).parts;
}

PartList read_part_list(const std::filesystem::path& file, const std::vector<std::string>& class_names) {
  return parse_part_list(read_file(file), class_names, file.string());
}

LabelledParts read_labelled_parts(const std::filesystem::path& file, const std::vector<std::string>& class_names) {
  return parse_lines(read_file(file), class_names, file.string(), /*counted=*/false);
}

std::string part_list_text(const PartList& parts, const std::vector<std::string>& class_names) {
  std::string text;
  for (size_t id = 0; id < parts.size(); ++id) {
    text += std::to_string(id) + " " + class_names.at(static_cast<size_t>(parts[id].category)) + " " + parts[id].name +
            "\n";
  }
  return text;
}

const std::vector<ShapeNetPartClass>& shapenet_part_classes() {
  static const std::vector<ShapeNetPartClass> classes = {
      {"Airplane", "02691156", 0, 4}, {"Bag", "02773838", 4, 2},        {"Cap", "02954340", 6, 2},
      {"Car", "02958343", 8, 4},      {"Chair", "03001627", 12, 4},     {"Earphone", "03261776", 16, 3},
      {"Guitar", "03467517", 19, 3},  {"Knife", "03624134", 22, 2},     {"Lamp", "03636649", 24, 4},
      {"Laptop", "03642806", 28, 2},  {"Motorbike", "03790512", 30, 6}, {"Mug", "03797390", 36, 2},
      {"Pistol", "03948459", 38, 3},  {"Rocket", "04099429", 41, 3},    {"Skateboard", "04225987", 44, 3},
      {"Table", "04379243", 47, 3}};
  return classes;
}

std::vector<std::string> shapenet_class_names() {
  std::vector<std::string> names;
  names.reserve(shapenet_part_classes().size());
  for (const ShapeNetPartClass& known : shapenet_part_classes()) names.emplace_back(known.name);
  return names;
}

PartList shapenet_part_list() {
  PartList parts;
  const auto& classes = shapenet_part_classes();
  for (size_t label = 0; label < classes.size(); ++label) {
    for (int64_t i = 0; i < classes[label].parts; ++i) {
      parts.push_back({std::to_string(i + 1), static_cast<int64_t>(label), classes[label].first_part + i});
    }
  }
  return parts;
}

void check_shapenet_classes(const std::filesystem::path& file, bool all) {
  const std::string text = read_file(file);
  const auto& classes = shapenet_part_classes();
  TextLines lines(text, file.string());
  size_t count = 0;
  for (; lines.next(); ++count) {
    const std::string_view name = lines.word(), synset = lines.word();
    const auto known = std::find_if(classes.begin(), classes.end(), [&](const ShapeNetPartClass& one) {
      return one.name == name && one.synset == synset;
    });
    if (known == classes.end()) {
      lines.fail("a class of ShapeNetPart with its synset, such as \"Airplane 02691156\"",
                 "\"" + std::string(name) + " " + std::string(synset) + "\"");
    }
    if (all && known - classes.begin() != static_cast<int64_t>(count)) {
      lines.fail(std::string(classes[count].name) + ", the class of label " + std::to_string(count), std::string(name));
    }
  }
  if (all && count != classes.size()) {
    throw DataError(file.string(), std::to_string(classes.size()) + " classes", std::to_string(count));
  }
}

}  // namespace geosft
