// SPDX-License-Identifier: Apache-2.0
// The actions of keys and mouse, independent of a window.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/view/colouring.h"

namespace geosft::view {

// The action that the window must take after a key.
enum class Reaction { none, redraw, save, quit };

class Viewer {
 public:
  // `usual`: the first item is coloured by what says most of it, whatever colouring is chosen. Throws what the gallery
  // and the choices throw for that item.
  Viewer(std::unique_ptr<Gallery> gallery, int64_t item, const Choices& choices, bool beside, bool usual = false);

  const Scene& scene() const { return scene_; }
  int64_t item() const { return item_; }
  Colouring colouring() const { return choices_.colouring; }
  bool help() const { return help_; }
  bool turning() const { return turning_; }

  // A key by its letter ('A' … 'Z'), or one of the arrows below. Keys that mean nothing here do nothing.
  Reaction press(char key);
  static constexpr char left = '<', right = '>', up = '^', down = 'v', escape = '\x1b';

  // A click on row i of the scene's points makes it the query, and attention the colouring: what is to be told of it,
  // or an empty text where there is no attention.
  std::string pick(int64_t row);

  // Keys and what they do, for the help on the screen.
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
