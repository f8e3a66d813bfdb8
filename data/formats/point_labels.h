// SPDX-License-Identifier: Apache-2.0
// Finds and checks the labels of the points of a file: the numbers of their parts.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/file_shape.h"

namespace geosft {

inline constexpr int64_t part_number_limit = 1 << 20;  // numbers of parts are below it

// Returns the index of the name, among those of properties, fields or columns, whose values are labels of the points;
// nothing if there is none. The names are, in any case, label, labels, part, class and classification, each also after
// scalar_, as CloudCompare writes them; of several the first in this order is taken.
std::optional<size_t> label_column(const std::vector<std::string_view>& names);

// Returns the labels of the points or vertices of a file, int64 [V]: numbers of parts, or unlabelled_part for -1, also
// where an unsigned type of 32 or 64 bits stores it, and for NaN, as of points without a value. Throws DataError for a
// shape without labels, naming the properties that it has, and for the first label that is another one than these and
// the whole numbers below part_number_limit.
at::Tensor point_labels(const FileShape& shape, const std::string& file);

// Returns a warning, "its labels are those of label, not of classification", where several names are those of labels;
// otherwise an empty text.
std::string label_choice_text(const std::vector<std::string>& names);

}  // namespace geosft
