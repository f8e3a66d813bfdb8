// SPDX-License-Identifier: Apache-2.0
#include "tools/view/viewer.h"

#include <algorithm>
#include <sstream>

#include "tools/experiment/arguments.h"
#include "tools/experiment/report_texts.h"

namespace geosft::view {
namespace {

// Returns the element `by` places after `present` in `all`, cyclically.
template <typename T>
T next_of(const std::vector<T>& all, T present, int64_t by) {
  const auto count = static_cast<int64_t>(all.size());
  const int64_t place = std::find(all.begin(), all.end(), present) - all.begin();
  return all[static_cast<size_t>(((place + by) % count + count) % count)];
}

int64_t round_and_round(int64_t present, int64_t by, int64_t count) {
  return ((present + by) % count + count) % count;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& Viewer::keys() {
  static const std::vector<std::pair<std::string, std::string>> all = {{"H", "this help"},
                                                                       {"right, left", "next, previous item"},
                                                                       {"C", "next colouring"},
                                                                       {"up, down", "next, previous layer"},
                                                                       {"E, D", "next, previous head"},
                                                                       {"W, S", "walk one step longer, shorter"},
                                                                       {"M", "colour map"},
                                                                       {"B", "rotated copy beside it"},
                                                                       {"F", "faces or points of a mesh"},
                                                                       {"O", "discs or balls, with normals"},
                                                                       {"L", "letters or numbers of nodes"},
                                                                       {"shift + click", "attention of that point"},
                                                                       {"T", "turntable"},
                                                                       {"P", "save a picture"},
                                                                       {"R", "view as at first"},
                                                                       {"drag, wheel", "turn, come closer"},
                                                                       {"Q, escape", "quit"}};
  return all;
}

Viewer::Viewer(std::unique_ptr<Gallery> gallery, int64_t item, const Choices& choices, bool beside, bool usual)
    : gallery_(std::move(gallery)), item_(item), choices_(choices), beside_(beside) {
  if (item < 0 || item >= gallery_->size()) {
    throw UsageError("--item: the data have items 0 … " + std::to_string(gallery_->size() - 1) + ", found " +
                     std::to_string(item));
  }
  open(item);
  if (usual) choices_.colouring = usual_colouring(subject_);
  paint();
}

void Viewer::open(int64_t item) {
  subject_ = gallery_->get(item, beside_);
  item_ = item;
}

void Viewer::paint() {
  scene_ = scene_of(subject_, choices_);
  scene_.title = "item " + std::to_string(item_) + " of " + std::to_string(gallery_->size()) + " - " + scene_.title;
}

void Viewer::step_item(int64_t by) {
  open(round_and_round(item_, by, gallery_->size()));
  choices_.query = std::nullopt;
  const std::vector<Colouring> has = colourings_of(subject_);
  if (std::find(has.begin(), has.end(), choices_.colouring) == has.end()) choices_.colouring = has.front();
  choices_.surface = choices_.surface && subject_.surface;
  choices_.discs = choices_.discs && subject_.normals.defined();
}

void Viewer::step_colouring() {
  choices_.colouring = next_of(colourings_of(subject_), choices_.colouring, 1);
  const std::vector<int64_t> layers = layers_of(subject_, choices_.colouring);
  if (choices_.layer && std::find(layers.begin(), layers.end(), *choices_.layer) == layers.end())
    choices_.layer.reset();
}

void Viewer::step_layer(int64_t by) {
  const std::vector<int64_t> layers = layers_of(subject_, choices_.colouring);
  if (!layers.empty()) choices_.layer = next_of(layers, chosen_layer(subject_, choices_), by);
}

void Viewer::step_head(int64_t by) {
  if (subject_.heads() > 0) choices_.head = round_and_round(choices_.head.value_or(0), by, subject_.heads() + 1);
}

void Viewer::step_component(int64_t by) {
  if (!subject_.encoding.defined()) return;
  choices_.component = 1 + round_and_round(choices_.component.value_or(2) - 1, by, subject_.encoding.size(1));
}

Reaction Viewer::press(char key) {
  switch (key) {
    case 'H':
      help_ = !help_;
      return Reaction::redraw;
    case 'T':
      turning_ = !turning_;
      return Reaction::redraw;
    case 'P':
      return Reaction::save;
    case 'Q':
    case escape:
      return Reaction::quit;
    case right:
    case left:
      step_item(key == right ? 1 : -1);
      break;
    case up:
    case down:
      step_layer(key == up ? 1 : -1);
      break;
    case 'C':
      step_colouring();
      break;
    case 'E':
    case 'D':
      step_head(key == 'E' ? 1 : -1);
      break;
    case 'W':
    case 'S':
      step_component(key == 'W' ? 1 : -1);
      break;
    case 'M':
      choices_.map = choices_.map == ColourMap::viridis ? ColourMap::cividis : ColourMap::viridis;
      break;
    case 'F':
      if (!subject_.surface || beside_) return Reaction::none;
      choices_.surface = !choices_.surface;
      break;
    case 'O':
      if (!subject_.normals.defined()) return Reaction::none;
      choices_.discs = !choices_.discs;
      break;
    case 'L':
      if (!subject_.is_graph()) return Reaction::none;
      choices_.labels = !choices_.labels;
      break;
    case 'B':
      choices_.surface = false;
      if (subject_.is_graph()) return Reaction::none;
      beside_ = !beside_;
      open(item_);
      break;
    default:
      return Reaction::none;
  }
  paint();
  return Reaction::redraw;
}

std::string Viewer::pick(int64_t row) {
  if (subject_.layers() == 0) return "";
  if (scene_.rows.defined()) row = scene_.rows[row].item<int64_t>();
  const int64_t query = row % subject_.points.size(0);  // rows of the rotated copy map to the same point
  choices_.query = query;
  if (choices_.colouring != Colouring::attention) choices_.layer.reset();
  choices_.colouring = Colouring::attention;
  paint();
  std::ostringstream text;
  text << "query " << query;
  const at::Tensor place = subject_.points[query];
  const double extent = (subject_.points.amax(0) - subject_.points.amin(0)).max().item<double>();
  for (int64_t axis = 0; axis < 3; ++axis) {
    text << (axis == 0 ? " at " : " ") << coordinate_text(place[axis].item<double>(), extent);
  }
  return text.str();
}

}  // namespace geosft::view
