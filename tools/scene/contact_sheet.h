// SPDX-License-Identifier: Apache-2.0
// Arranges several items of a gallery in a grid: a contact sheet with the prediction and the truth of each.
#pragma once

#include <string>
#include <vector>

#include "tools/scene/colouring.h"

namespace geosft::view {

// Columns and rows of a contact sheet.
struct GridSize {
  int64_t columns = 1, rows = 1;
};
// "CxR", each from 1 to 12. Throws UsageError for anything else.
GridSize grid_of(const std::string& text);

struct ContactSheet {
  GridSize grid;
  std::vector<Subject> subjects;  // row by row; at most columns * rows
  std::vector<Scene> scenes;      // of the subjects, without legends; wrong predictions have a tinted background
  Scene key;                      // summary and legend of the sheet: texts only
  Choices choices;                // with the range of values of the whole sheet
};

// Returns the items from `first` on, coloured on one scale. With `usual`, by the default colouring of the first one.
// Throws UsageError for an item that does not exist, and as scene_of does.
ContactSheet contact_sheet(Gallery& gallery, int64_t first, const GridSize& grid, Choices choices, bool usual);

// Returns one line per item: its name, its class and its prediction.
std::vector<std::string> sheet_lines(const ContactSheet& sheet);

}  // namespace geosft::view
