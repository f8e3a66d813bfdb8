// SPDX-License-Identifier: Apache-2.0
// Handles keys and mouse picks, independently of a window.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/scene/colouring.h"

namespace geosft::view {

// The action required of the window after a key.
enum class Reaction { none, redraw, save, quit };

class Viewer {
 public:
  // With `usual`, the first item gets its default colouring instead of the chosen one. Throws what the gallery and the
  // choices throw for that item.
  Viewer(std::unique_ptr<Gallery> gallery, int64_t item, const Choices& choices, bool beside, bool usual = false);

  const Subject& subject() const { return subject_; }
  const Scene& scene() const { return scene_; }
  const Choices& choices() const { return choices_; }
  int64_t item() const { return item_; }
  Colouring colouring() const { return choices_.colouring; }
  bool help() const { return help_; }
  bool turning() const { return turning_; }

  // A key by its letter ('A' … 'Z'), or one of the arrows below. Other keys are ignored.
  Reaction press(char key);
  static constexpr char left = '<', right = '>', up = '^', down = 'v', escape = '\x1b';

  // Handles a click on a row of the scene's points: makes it the query and switches to the attention colouring. Returns
  // a message, or an empty text if there is no attention.
  std::string pick(int64_t row);

  // Returns the keys and their actions, for the help on the screen.
  static const std::vector<std::pair<std::string, std::string>>& keys();

 private:
  void open(int64_t item);
  void paint();
  void step_item(int64_t by);
  void step_colouring();
  void step_layer(int64_t by);
  void step_head(int64_t by);
  void step_component(int64_t by);

  std::unique_ptr<Gallery> gallery_;
  int64_t item_;
  Choices choices_;
  bool beside_, help_ = false, turning_ = false;
  Subject subject_;
  Scene scene_;
};

}  // namespace geosft::view
