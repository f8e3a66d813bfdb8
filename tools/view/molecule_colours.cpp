// SPDX-License-Identifier: Apache-2.0
#include "tools/view/molecule_colours.h"

#include <map>

#include "data/formats/elements.h"
#include "data/graphs/molecule_features.h"

namespace geosft::view {
namespace {

// Elements that are not listed are pink.
Colour element_colour(int number) {
  static const std::map<int, Colour> colours = {
      {1, {0.93, 0.93, 0.93}},  {5, {1.00, 0.71, 0.61}},  {6, {0.35, 0.35, 0.35}},  {7, {0.19, 0.31, 0.97}},
      {8, {0.93, 0.13, 0.10}},  {9, {0.50, 0.80, 0.25}},  {11, {0.55, 0.30, 0.90}}, {12, {0.15, 0.55, 0.15}},
      {14, {0.75, 0.65, 0.50}}, {15, {1.00, 0.55, 0.10}}, {16, {0.95, 0.80, 0.15}}, {17, {0.15, 0.75, 0.20}},
      {19, {0.50, 0.25, 0.80}}, {26, {0.80, 0.40, 0.15}}, {34, {0.90, 0.60, 0.10}}, {35, {0.60, 0.15, 0.10}},
      {53, {0.50, 0.10, 0.55}}};
  const auto found = colours.find(number);
  return found == colours.end() ? Colour{0.90, 0.45, 0.70} : found->second;
}

}  // namespace

std::optional<PointLabels> elements_of(const ItemSchema& schema, const FeaturedGraphs& molecule) {
  if (schema.node_vocabulary.empty() || schema.node_vocabulary.front() != element_count + 1) return std::nullopt;
  PointLabels found;
  found.labels = molecule.node_categories.select(1, 0).to(at::kLong).contiguous();
  const int64_t atoms = found.labels.size(0);
  found.colours = at::empty({atoms, 3}, at::kDouble);
  double* colour = found.colours.mutable_data_ptr<double>();
  std::map<int, int64_t> counts;
  for (int64_t atom = 0; atom < atoms; ++atom, colour += 3) {
    const int number = static_cast<int>(found.labels.const_data_ptr<int64_t>()[atom]) + 1;
    const Colour chosen = element_colour(number);
    std::copy(chosen.begin(), chosen.end(), colour);
    ++counts[number];
  }
  for (const auto& [number, count] : counts) {
    const std::string symbol = number > element_count ? "no element" : std::string(element_symbol(number));
    found.names.push_back({symbol + ", " + std::to_string(count), element_colour(number)});
  }
  return found;
}

at::Tensor bond_lines(const ItemSchema& schema, const FeaturedGraphs& molecule) {
  if (schema.edge_vocabulary != bond_vocabulary) return {};
  const at::Tensor type = molecule.edge_categories.select(1, 0).to(at::kLong);
  return at::where(type < 4, type + 1, 1);
}

}  // namespace geosft::view
