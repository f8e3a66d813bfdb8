// SPDX-License-Identifier: Apache-2.0
#include "data/formats/point_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "data/data_error.h"
#include "data/formats/text_lines.h"
#include "data/points/shape.h"
#include "data/read_file.h"

namespace geosft {
namespace {

constexpr std::array<std::string_view, 5> label_names = {"label", "labels", "part", "class", "classification"};

// Returns the place of a name among label_names, or their number.
size_t rank_of_label(std::string_view name) {
  constexpr std::string_view prefix = "scalar_";
  std::string plain = lower_case(trimmed(name));
  if (plain.starts_with(prefix)) plain.erase(0, prefix.size());
  return static_cast<size_t>(std::find(label_names.begin(), label_names.end(), plain) - label_names.begin());
}

// Returns "x, y, z, red", of at most 20 names.
std::string names_text(const std::vector<std::string>& names) {
  constexpr size_t max_names = 20;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), max_names); ++i) text += (i > 0 ? ", " : "") + names[i];
  return text + (names.size() > max_names ? " and " + std::to_string(names.size() - max_names) + " more" : "");
}

}  // namespace

std::optional<size_t> label_column(const std::vector<std::string_view>& names) {
  const auto first = std::min_element(names.begin(), names.end(), [](std::string_view one, std::string_view other) {
    return rank_of_label(one) < rank_of_label(other);
  });
  if (first == names.end() || rank_of_label(*first) == label_names.size()) return std::nullopt;
  return static_cast<size_t>(first - names.begin());
}

at::Tensor point_labels(const FileShape& shape, const std::string& file) {
  if (!shape.labels.defined()) {
    throw DataError(file,
                    "a label for each point: a property or column label, labels, part, class or classification, or one "
                    "of these after scalar_",
                    shape.names.empty() ? "columns without such a name, which --columns x,y,z,label tells"
                                        : names_text(shape.names));
  }
  constexpr double minus_one_of_32_bits = 4294967295.0, minus_one_of_64_bits = 18446744073709551615.0;
  const at::Tensor none =
      shape.labels.isnan() | (shape.labels == minus_one_of_32_bits) | (shape.labels == minus_one_of_64_bits);
  const at::Tensor labels = shape.labels.masked_fill(none, unlabelled_part);
  const at::Tensor wrong = (labels != labels.floor()) | (labels < unlabelled_part) | (labels >= part_number_limit);
  if (wrong.any().item<bool>()) {
    const auto point = wrong.to(at::kByte).argmax().item<int64_t>();
    const auto label = labels[point].item<double>();
    std::ostringstream found;
    found.precision(12);
    if (std::isinf(label)) {
      found << "no number";
    } else {
      found << label;
    }
    found << " at point " << point + 1;
    throw DataError(file,
                    "labels that are whole numbers from 0 to " + std::to_string(part_number_limit - 1) +
                        ", or -1 or NaN without a label",
                    found.str());
  }
  return labels.to(at::kLong);
}

std::string label_choice_text(const std::vector<std::string>& names) {
  const std::optional<size_t> taken = label_column({names.begin(), names.end()});
  for (size_t i = 0; taken && i < names.size(); ++i) {
    if (i == *taken || rank_of_label(names[i]) == label_names.size()) continue;
    return "its labels are those of " + names[*taken] + ", not of " + names[i];
  }
  return "";
}

}  // namespace geosft
