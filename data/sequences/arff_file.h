// SPDX-License-Identifier: Apache-2.0
// Reads time series in Weka's ARFF, as the UEA and UCR archives publish them.
#pragma once

#include <filesystem>

#include "data/sequences/ts_file.h"

namespace geosft {

// Reads one series per line below @data, plain or .gz. Series of one dimension are numeric attributes in temporal
// order. Series of several are one relational attribute, a quoted text whose rows, separated by "\n", are the
// dimensions. The last attribute may be nominal: it is the class, and its order counts. Missing values are "?"; those
// at the end of all dimensions of a series are padding and left out. Throws DataError, naming file and line: attributes
// of other types and in other orders, sparse rows, another number of values than attributes, non-numeric words, unknown
// classes, another number of dimensions, files without series.
TsFile read_arff_file(const std::filesystem::path& file);

}  // namespace geosft
