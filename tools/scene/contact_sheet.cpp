// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/contact_sheet.h"

#include <algorithm>
#include <filesystem>

#include "tools/experiment/arguments.h"

namespace geosft::view {
namespace {

constexpr int64_t max_side = 12;
constexpr double tint = 0.14;  // of the background of a wrong prediction

// Keeps the names of classes without what follows them ("leg, 23 %"), each once.
void add_names(const Legend& legend, bool counted, Legend& all) {
  for (const auto& [text, colour] : legend.names) {
    const std::string name = counted ? text.substr(0, text.rfind(", ")) : text;
    const auto same = [&](const auto& entry) { return entry.first == name; };
    if (std::none_of(all.names.begin(), all.names.end(), same)) all.names.emplace_back(name, colour);
  }
}

// Returns the title of the first item's legend, true of all items.
std::string common_title(const std::string& title, const Choices& choices, bool graph) {
  if (choices.colouring != Colouring::attention || choices.query) return title;
  return "attention of the most important " + std::string(graph ? "node" : "point") + title.substr(title.find(','));
}

std::string summary(const std::vector<Subject>& subjects) {
  const auto known =
      std::count_if(subjects.begin(), subjects.end(), [](const Subject& s) { return s.right.has_value(); });
  if (known == 0) return "";
  const auto right = std::count_if(subjects.begin(), subjects.end(), [](const Subject& s) { return s.right == true; });
  return std::to_string(right) + " of " + std::to_string(known) + " right" + (right < known ? " (others: marked)" : "");
}

// Returns the range of the values of all subjects.
ValueScale range_of(const std::vector<Subject>& subjects, const Choices& choices) {
  std::vector<at::Tensor> values;
  for (const Subject& subject : subjects) {
    check_has(subject, choices.colouring);
    values.push_back(values_of(subject, choices).to(at::kDouble));
  }
  return scale_of(at::cat(values));
}

}  // namespace

GridSize grid_of(const std::string& text) {
  const size_t cross = text.find('x');
  const auto number = [](const std::string& digits) -> int64_t {
    const bool formed = !digits.empty() && digits.size() < 4 &&
                        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    return formed ? std::stoll(digits) : 0;
  };
  const GridSize grid = cross == std::string::npos
                            ? GridSize{0, 0}
                            : GridSize{number(text.substr(0, cross)), number(text.substr(cross + 1))};
  if (std::min(grid.columns, grid.rows) < 1 || std::max(grid.columns, grid.rows) > max_side) {
    throw UsageError("--grid: expected COLUMNSxROWS, each from 1 to " + std::to_string(max_side) + ", found '" + text +
                     "'");
  }
  return grid;
}

ContactSheet contact_sheet(Gallery& gallery, int64_t first, const GridSize& grid, Choices choices, bool usual) {
  if (first < 0 || first >= gallery.size()) {
    throw UsageError("--item: the data have items 0 … " + std::to_string(gallery.size() - 1) + ", found " +
                     std::to_string(first));
  }
  ContactSheet sheet;
  sheet.grid = grid;
  const int64_t end = std::min(gallery.size(), first + grid.columns * grid.rows);
  for (int64_t item = first; item < end; ++item) sheet.subjects.push_back(gallery.get(item, /*beside=*/false));
  if (usual) choices.colouring = usual_colouring(sheet.subjects.front());
  if (has_values(choices.colouring)) choices.scale = range_of(sheet.subjects, choices);
  const bool counted = has_labels(choices.colouring);
  sheet.key.lines = {"items " + std::to_string(first) + " … " + std::to_string(end - 1) + " of " +
                     std::to_string(gallery.size())};
  if (const std::string text = summary(sheet.subjects); !text.empty()) sheet.key.lines.push_back(text);
  for (const Subject& subject : sheet.subjects) {
    Scene scene = scene_of(subject, choices);
    if (sheet.scenes.empty()) {
      sheet.key.background = scene.background;
      sheet.key.legend.bar = scene.legend.bar;
      sheet.key.legend.title = common_title(scene.legend.title, choices, subject.is_graph());
    }
    add_names(scene.legend, counted, sheet.key.legend);
    scene.legend = {};
    scene.lines.front() = std::filesystem::path(subject.name).filename().string();
    if (subject.right == false) {
      for (size_t c = 0; c < 3; ++c) scene.background[c] += tint * (query_colour[c] - scene.background[c]);
    }
    sheet.scenes.push_back(std::move(scene));
  }
  sheet.choices = choices;
  return sheet;
}

std::vector<std::string> sheet_lines(const ContactSheet& sheet) {
  std::vector<std::string> lines;
  for (const Subject& subject : sheet.subjects) {
    std::string line = subject.name;
    if (!subject.truth.empty()) line += "; is: " + subject.truth;
    if (!subject.prediction.empty()) line += "; predicted: " + subject.prediction;
    lines.push_back(line);
  }
  for (const std::string& line : sheet.key.lines) lines.push_back(line);
  return lines;
}

}  // namespace geosft::view
