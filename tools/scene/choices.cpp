// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/choices.h"

#include <algorithm>
#include <array>

#include "tools/experiment/arguments.h"

namespace geosft::view {
namespace {

constexpr std::array<std::pair<Colouring, const char*>, 10> colouring_names = {{{Colouring::height, "height"},
                                                                                {Colouring::normals, "normals"},
                                                                                {Colouring::parts, "parts"},
                                                                                {Colouring::true_parts, "true_parts"},
                                                                                {Colouring::elements, "elements"},
                                                                                {Colouring::importance, "importance"},
                                                                                {Colouring::samples, "samples"},
                                                                                {Colouring::attention, "attention"},
                                                                                {Colouring::diversity, "diversity"},
                                                                                {Colouring::walks, "walks"}}};

using Colourings = std::vector<Colouring>;

// Options and the colourings that take them.
const std::vector<std::pair<const char*, Colourings>>& options_of_colourings() {
  using enum Colouring;
  static const std::vector<std::pair<const char*, Colourings>> all = {
      {"--layer", {importance, samples, attention, diversity}},
      {"--head", {attention}},
      {"--query", {attention}},
      {"--component", {walks}},
      {"--map", {height, importance, attention, diversity, walks}}};
  return all;
}

bool contains(const Colourings& all, Colouring one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string names_of(const Colourings& all) {
  std::string text;
  for (const Colouring one : all) text += (text.empty() ? "" : ", ") + std::string(colouring_name(one));
  return text;
}

bool needs_model(Colouring colouring) {
  return colouring == Colouring::importance || colouring == Colouring::samples || colouring == Colouring::attention ||
         colouring == Colouring::diversity;
}

std::string range_text(const std::vector<int64_t>& numbers) {
  return numbers.empty() ? "none" : std::to_string(numbers.front()) + " … " + std::to_string(numbers.back());
}

}  // namespace

const char* colouring_name(Colouring colouring) {
  return std::find_if(colouring_names.begin(), colouring_names.end(),
                      [&](const auto& entry) { return entry.first == colouring; })
      ->second;
}

Colouring colouring_of(const std::string& name) {
  Colourings all;
  for (const auto& [colouring, known] : colouring_names) {
    if (name == known) return colouring;
    all.push_back(colouring);
  }
  throw UsageError("--colour: expected one of " + names_of(all) + ", found '" + name + "'");
}

std::vector<Colouring> colourings_of(const Subject& subject) {
  std::vector<Colouring> found;
  for (const auto& [colouring, name] : colouring_names) {
    if (needs_model(colouring) && layers_of(subject, colouring).empty()) continue;
    if (colouring == Colouring::normals && !subject.normals.defined()) continue;
    if (colouring == Colouring::parts && !subject.parts) continue;
    if (colouring == Colouring::true_parts && !subject.true_parts) continue;
    if (colouring == Colouring::elements && !subject.elements) continue;
    if (colouring == Colouring::walks && !subject.encoding.defined()) continue;
    found.push_back(colouring);
  }
  return found;
}

Colouring usual_colouring(const Subject& subject) {
  const std::vector<Colouring> has = colourings_of(subject);
  for (const Colouring colouring : {Colouring::parts, Colouring::true_parts, Colouring::importance,
                                    Colouring::attention, Colouring::elements, Colouring::walks}) {
    if (contains(has, colouring)) return colouring;
  }
  return Colouring::height;
}

std::vector<int64_t> layers_of(const Subject& subject, Colouring colouring) {
  std::vector<int64_t> layers;
  const bool of_sampler = colouring == Colouring::importance || colouring == Colouring::samples;
  if (of_sampler && subject.head_samples()) layers.push_back(0);
  if (!needs_model(colouring) || (colouring == Colouring::diversity && subject.heads() < 2)) return layers;
  for (int64_t layer = 1; layer <= subject.layers(); ++layer) {
    if (!of_sampler || subject.trace->layers[static_cast<size_t>(layer - 1)].samples()) layers.push_back(layer);
  }
  return layers;
}

int64_t chosen_layer(const Subject& subject, const Choices& choices) {
  const std::vector<int64_t> layers = layers_of(subject, choices.colouring);
  if (!choices.layer) return layers.front() == 0 ? 0 : layers.back();
  if (std::find(layers.begin(), layers.end(), *choices.layer) == layers.end()) {
    throw UsageError("--layer: for " + std::string(colouring_name(choices.colouring)) + " the model has " +
                     range_text(layers) + ", found " + std::to_string(*choices.layer));
  }
  return *choices.layer;
}

Colour background_of(const std::string& text) {
  if (text == "white") return {1, 1, 1};
  if (text == "black") return {0, 0, 0};
  if (text == "grey") return {0.5, 0.5, 0.5};
  if (text.size() != 7 || text[0] != '#' || text.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos) {
    throw UsageError("--background: expected white, black, grey or #RRGGBB, found '" + text + "'");
  }
  const auto channel = [&](size_t first) { return std::stoi(text.substr(first, 2), nullptr, 16) / 255.0; };
  return {channel(1), channel(3), channel(5)};
}

void check_takes(Colouring colouring, const std::function<bool(const std::string&)>& given) {
  for (const auto& [option, users] : options_of_colourings()) {
    if (contains(users, colouring) || !given(option)) continue;
    throw UsageError(std::string(option) + " is for --colour " + names_of(users) + ", not for " +
                     colouring_name(colouring));
  }
}

void check_has(const Subject& subject, Colouring colouring) {
  if (contains(colourings_of(subject), colouring)) return;
  const std::string name = colouring_name(colouring);
  if (colouring == Colouring::parts)
    throw UsageError("--colour parts needs a model of parts: --run RUN of geosft-segment");
  if (colouring == Colouring::true_parts)
    throw UsageError("--colour true_parts needs clouds with labelled parts: --data of geosft-segment");
  if (needs_model(colouring) && !subject.trace) {
    throw UsageError("--colour " + name +
                     (subject.untraced.empty() ? " needs a model: --run RUN" : ": " + subject.untraced));
  }
  if (colouring == Colouring::normals) throw UsageError("--colour normals: " + subject.name + " has none");
  if (colouring == Colouring::elements)
    throw UsageError("--colour elements is for molecules: " + subject.name + " has no atoms");
  if (colouring == Colouring::walks) throw UsageError("--colour walks is for graphs: --graph");
  if (layers_of(subject, Colouring::attention).empty()) {
    throw UsageError("--colour " + name + ": the model has no attention (attention = \"none\"); --colour is one of " +
                     names_of(colourings_of(subject)));
  }
  if (colouring == Colouring::diversity) throw UsageError("--colour diversity: the model has one head");
  throw UsageError("--colour " + name + ": the model does not sample; --colour attention shows where it looks");
}

}  // namespace geosft::view
